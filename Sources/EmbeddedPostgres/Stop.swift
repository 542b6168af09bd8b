internal import Basics
import Glibc

extension EmbeddedServer {
  /// Signals the postmaster and waits until it has ended; false if there was none.
  func shutDown(mode: StopMode, timeout: Duration) throws(EmbeddedServerError) -> Bool {
    try folder.checkAccess()
    guard Postmaster.current(folder) != nil else { return false }
    let deadline = Deadline(after: timeout)
    let lock = try Lock.acquire(
      folder, account: account, timeout: timeout,
      isNeedless: { Postmaster.current(folder) == nil })
    guard let lock else { return true }
    defer { withExtendedLifetime(lock) {} }
    guard let postmaster = Postmaster.current(folder) else { return true }

    if kill(postmaster.pid, mode.signal) != 0, errno != ESRCH {
      throw EmbeddedServerError(
        errno == EPERM ? .notAllowed : .unavailable,
        "could not signal the embedded server (process \(postmaster.pid)): \(Files.reason(errno))")
    }
    while ServerProcess(postmaster.pid)?.belongs(to: folder) == true {
      guard !deadline.hasPassed else {
        throw EmbeddedServerError(
          .tryLater, "embedded server did not stop within \(timeout)",
          detail: "Process \(postmaster.pid) still runs.",
          hint: mode == .smart
            ? "It waits for its clients to disconnect; stop it in fast mode."
            : "Its log: \(folder.currentLogFile).")
      }
      // It is the child of another process, so its end is no event here.
      Pause.briefly()
    }
    Postmaster.reap(postmaster.pid)
    return true
  }
}

extension EmbeddedServer.StopMode {
  /// The signal that requests this mode from a postmaster.
  fileprivate var signal: Int32 {
    switch self {
    case .smart: SIGTERM
    case .fast: SIGINT
    case .immediate: SIGQUIT
    }
  }
}
