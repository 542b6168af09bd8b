import Glibc

extension EmbeddedServer {
  /// What a postmaster says of itself in `postmaster.pid`, and what `/proc` says of it.
  struct Postmaster: Equatable, Sendable {
    /// The last line of the file.
    enum State: String, Sendable {
      case starting, stopping, ready, standby
    }

    var pid: pid_t
    var startedAt: Int64?
    var state: State?

    /// From the file's lines: process id, data folder, start time, port, socket folder, address,
    /// shared memory, state. A postmaster that has just started has not written them all; a
    /// single-user server writes its process id with a minus.
    init?(_ text: String) {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      guard let first = lines.first, let number = pid_t(first), number != 0, number != .min else {
        return nil
      }
      pid = abs(number)
      startedAt = lines.count > 2 ? Int64(lines[2]) : nil
      state = lines.count > 7 ? State(rawValue: String(lines[7].prefix { $0 != " " })) : nil
    }

    /// The postmaster of this folder if one is alive, in whatever state.
    static func current(_ folder: Folder) -> Postmaster? {
      guard let text = Files.text(folder.pidFile), let postmaster = Postmaster(text),
        ServerProcess(postmaster.pid)?.belongs(to: folder) == true
      else { return nil }
      return postmaster
    }

    /// Whether a client would get through: the postmaster says that it is ready, its socket takes
    /// a connection, and whoever listens there is alive. Microseconds; the file alone could be from
    /// before a crash, and the socket alone already answers during recovery.
    static func isAcceptingConnections(_ folder: Folder) -> Bool {
      guard let text = Files.text(folder.pidFile), Postmaster(text)?.state == .ready else {
        return false
      }
      return connects(to: folder.socketPath)
    }

    private static func connects(to path: String) -> Bool {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      guard bytes.count <= Folder.longestSocketPath else { return false }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      let descriptor = socket(AF_UNIX, type, 0)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      let code = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      // EAGAIN: the queue is full, so somebody has it.
      guard code == 0 else { return errno == EAGAIN }
      // A child that the postmaster had just forked when it was killed keeps the socket open for a
      // moment. 0 is a process that cannot be seen from here: in another container.
      let listener = peer(descriptor)
      return listener == 0 || ServerProcess(listener) != nil
    }

    /// The process that listens at the other end: the first member of `struct ucred`, which Swift
    /// is not shown.
    private static func peer(_ descriptor: Int32) -> pid_t {
      var credentials: (pid: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
      var size = socklen_t(MemoryLayout.size(ofValue: credentials))
      getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
      return credentials.pid
    }
  }
}

extension EmbeddedServer.Postmaster {
  /// Clears up after a postmaster that is no longer there. To be called under the lock, with no
  /// `current` postmaster.
  ///
  /// PostgreSQL recognises a stale `postmaster.pid` by itself unless a process has its number: one
  /// that has been given it since, or a zombie that nobody has waited for. Then it must not simply
  /// be removed: it also names the shared memory by which a new postmaster knows that backends of
  /// the old one are still writing to the data. So only the number is replaced, by one that no
  /// process can have.
  static func clearRemains(_ folder: EmbeddedServer.Folder) {
    if let text = EmbeddedServer.Files.text(folder.pidFile) {
      if let old = Self(text) {
        reap(old.pid)
        if kill(old.pid, 0) == 0 || errno == EPERM, let end = text.firstIndex(of: "\n") {
          _ = EmbeddedServer.Files.write(
            "\(impossiblePid)" + text[end...], to: folder.pidFile)
        }
      } else if EmbeddedServer.ServerProcess.all(in: folder).isEmpty {
        // Empty or garbled, as after a full disk: PostgreSQL would refuse to go on.
        unlink(folder.pidFile)
      }
    }
    // The socket's own lock file has the same weakness, but protects nothing here: the folder is
    // this server's alone.
    unlink(folder.socketPath)
    unlink(folder.socketPath + ".lock")
  }

  /// Above the largest that the kernel gives out (4,194,304).
  private static let impossiblePid = 99_999_999

  /// Lets a dead child go, if it was ours.
  static func reap(_ pid: pid_t) {
    var status: Int32 = 0
    waitpid(pid, &status, WNOHANG)
  }
}
