import Glibc

extension EmbeddedServer {
  /// A postmaster, as `postmaster.pid` and `/proc` describe it.
  struct Postmaster: Equatable, Sendable {
    /// The last line of the file.
    enum State: String, Sendable {
      case starting, stopping, ready, standby
    }

    var pid: pid_t
    var state: State?
    /// Whether it listens on a TCP port.
    var hasTCP: Bool

    /// Reads the file's lines: process id, data folder, start time, port, socket folder, address, shared
    /// memory, state. A postmaster that has just started has not written all of them; a single-user server
    /// writes its process id with a minus sign.
    init?(_ text: String) {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      guard let first = lines.first, let number = pid_t(first), number != 0, number != .min else {
        return nil
      }
      pid = abs(number)
      hasTCP = lines.count > 5 && !lines[5].isEmpty
      state = lines.count > 7 ? State(rawValue: String(lines[7].prefix { $0 != " " })) : nil
    }

    /// The live postmaster of this folder, in any state.
    static func current(_ folder: Folder) -> Postmaster? {
      guard let text = Files.text(folder.pidFile), let postmaster = Postmaster(text),
        ServerProcess(postmaster.pid)?.belongs(to: folder) == true
      else { return nil }
      return postmaster
    }

    /// Whether a client could connect: the postmaster reports that it is ready, its socket accepts a
    /// connection, and the listening process is alive. This takes microseconds. The file alone could be from
    /// before a crash, and the socket alone answers during recovery.
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
      // EAGAIN: the queue of connections is full, so a process is listening.
      guard code == 0 else { return errno == EAGAIN }
      // If the postmaster was killed just after a fork, its child keeps the socket open for a moment. 0 is a
      // process in another container, which is not visible here.
      let listener = peer(descriptor)
      return listener == 0 || ServerProcess(listener) != nil
    }

    /// The listening process: the first member of `struct ucred`, which Swift does not import.
    private static func peer(_ descriptor: Int32) -> pid_t {
      var credentials: (pid: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
      var size = socklen_t(MemoryLayout.size(ofValue: credentials))
      getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
      return credentials.pid
    }
  }
}

extension EmbeddedServer.Postmaster {
  /// Cleans up after a postmaster that crashed. Call this under the lock, if there is no `current`
  /// postmaster.
  ///
  /// PostgreSQL recognises a stale `postmaster.pid` itself, unless another process has got its process id, or
  /// the old process is a zombie. In these cases the file must not be removed, because it also names the
  /// shared memory by which a new postmaster detects that backends of the old one still write to the data. So
  /// only the process id is replaced, by one that no process can have.
  static func clearRemains(_ folder: EmbeddedServer.Folder) {
    if let text = EmbeddedServer.Files.text(folder.pidFile) {
      if let old = Self(text) {
        reap(old.pid)
        if kill(old.pid, 0) == 0 || errno == EPERM, let end = text.firstIndex(of: "\n") {
          _ = EmbeddedServer.Files.write(
            "\(impossiblePid)" + text[end...], to: folder.pidFile)
        }
      } else if EmbeddedServer.ServerProcess.all(in: folder).isEmpty {
        // PostgreSQL would refuse to start with an empty or garbled file, such as after a full disk.
        unlink(folder.pidFile)
      }
    }
    // The socket's lock file has the same weakness. It is not needed here, because only this server uses the
    // folder.
    for name in EmbeddedServer.Files.names(in: folder.socket) where name.hasPrefix(".s.PGSQL.") {
      unlink(folder.socket + "/" + name)
    }
  }

  /// Above the largest process id of the kernel (4,194,304).
  private static let impossiblePid = 99_999_999

  /// Reaps the process if it was a child of this one.
  static func reap(_ pid: pid_t) {
    var status: Int32 = 0
    waitpid(pid, &status, WNOHANG)
  }
}

extension EmbeddedServer {
  /// A live process, as `/proc` shows it.
  struct ServerProcess: Sendable {
    let pid: pid_t
    private let name: String

    /// `nil` if there is no such process, or if it is a zombie.
    init?(_ pid: pid_t) {
      // `pid (name) state ...`; the name may contain any character.
      guard let line = Files.text("/proc/\(pid)/stat"), let open = line.firstIndex(of: "("),
        let close = line.lastIndex(of: ")")
      else { return nil }
      let state = line[line.index(after: close)...].first { $0 != " " }
      guard state != "Z", state != "X" else { return nil }
      self.pid = pid
      name = String(line[line.index(after: open)..<close])
    }

    /// Whether this is a PostgreSQL process of this data folder, which is then its working directory. If the
    /// system does not show the working directory, the answer is yes.
    func belongs(to folder: Folder) -> Bool {
      guard name.contains("postgres") else { return false }
      var ours = stat()
      var its = stat()
      guard stat("/proc/\(pid)/cwd", &its) == 0 else { return errno != ENOENT }
      guard stat(folder.data, &ours) == 0 else { return false }
      return its.st_dev == ours.st_dev && its.st_ino == ours.st_ino
    }

    /// All of PostgreSQL's processes on this folder's data.
    static func all(in folder: Folder) -> [ServerProcess] {
      Files.names(in: "/proc").compactMap { name in
        guard let pid = pid_t(name), let process = ServerProcess(pid) else { return nil }
        // The working directories of the same account's processes are visible; processes of other accounts
        // are not ours.
        var state = stat()
        guard stat("/proc/\(pid)/cwd", &state) == 0 else { return nil }
        return process.belongs(to: folder) ? process : nil
      }
    }

    /// Whether the server is replaying its write-ahead log, which the title of its startup process shows.
    static func isRecovering(_ folder: Folder) -> Bool {
      all(in: folder).contains { process in
        guard let title = Files.read("/proc/\(process.pid)/cmdline") else { return false }
        // The title of a backend that is accepting a connection ends with that word, too.
        return title.contains(" startup".utf8) && !title.contains("[local]".utf8)
      }
    }
  }
}
