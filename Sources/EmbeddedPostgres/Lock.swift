internal import Basics
import Glibc

extension EmbeddedServer {
  /// The lock that guards the initialisation, start and stop of the server. The system releases it when the
  /// process that holds it ends.
  struct Lock: ~Copyable {
    private let descriptor: Int32

    private init(descriptor: Int32) {
      self.descriptor = descriptor
    }

    deinit {
      close(descriptor)
    }

    /// Waits for the lock until `deadline`; `nil` if `isNeedless` becomes true meanwhile, because another
    /// holder has done the work.
    static func acquire(
      _ folder: Folder, account: Account, timeout: Duration, onWait: () -> Void = {},
      isNeedless: () -> Bool
    ) throws(EmbeddedServerError) -> Lock? {
      let descriptor = Files.openOwn(folder.lock, O_RDWR)
      guard descriptor >= 0 else {
        let code = errno
        throw EmbeddedServerError(
          code == EACCES || code == ELOOP ? .notAllowed : .unavailable,
          "could not open lock file \"\(folder.lock)\": \(Files.reason(code))")
      }
      let lock = Lock(descriptor: descriptor)
      if account.isSwitched { _ = fchown(descriptor, account.user, account.group) }

      let deadline = Deadline(after: timeout)
      var hasWaited = false
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        guard code == EWOULDBLOCK || code == EINTR else {
          throw EmbeddedServerError(
            .unavailable, "could not lock file \"\(folder.lock)\": \(Files.reason(code))")
        }
        if isNeedless() { return nil }
        guard !deadline.hasPassed else {
          throw EmbeddedServerError(
            .tryLater, "could not get the lock of the embedded server in time",
            detail: "Another program has held \"\(folder.lock)\" for \(timeout).",
            hint: "That program may be waiting for the server's crash recovery; try again later.")
        }
        if !hasWaited { onWait() }
        hasWaited = true
        // `flock` has no timeout, and the server is often ready before the lock is free.
        Pause.briefly()
      }
      return lock
    }
  }

  /// The pause of loops that poll where no event can be awaited: a lock with a deadline, a postmaster becoming
  /// ready, or the end of a postmaster that is not our child.
  enum Pause {
    /// 10 milliseconds.
    static func briefly() {
      var time = timespec(tv_sec: 0, tv_nsec: 10_000_000)
      nanosleep(&time, nil)
    }
  }
}
