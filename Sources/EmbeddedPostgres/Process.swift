import Glibc

extension EmbeddedServer {
  /// A live process, as `/proc` shows it.
  struct ServerProcess: Sendable {
    let pid: pid_t
    private let name: String

    /// `nil` if there is no such process, or if it is dead and only waits to be waited for.
    init?(_ pid: pid_t) {
      // `pid (name) state ...`; the name may hold anything.
      guard let line = Files.text("/proc/\(pid)/stat"), let open = line.firstIndex(of: "("),
        let close = line.lastIndex(of: ")")
      else { return nil }
      let state = line[line.index(after: close)...].first { $0 != " " }
      guard state != "Z", state != "X" else { return nil }
      self.pid = pid
      name = String(line[line.index(after: open)..<close])
    }

    /// Whether this is one of PostgreSQL's processes on this folder's data: they all run in their
    /// data folder. Where the system does not show that, it is taken for one.
    func belongs(to folder: Folder) -> Bool {
      guard Files.contains(Array(name.utf8), "postgres") else { return false }
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
        // Other servers of the same account do show theirs, other accounts' are not ours.
        var state = stat()
        guard stat("/proc/\(pid)/cwd", &state) == 0 else { return nil }
        return process.belongs(to: folder) ? process : nil
      }
    }

    /// Whether the server is replaying its log: then it has a process that says so in its title.
    static func isRecovering(_ folder: Folder) -> Bool {
      all(in: folder).contains { process in
        guard let title = Files.read("/proc/\(process.pid)/cmdline") else { return false }
        // A backend that is just being connected to ends in that word, too.
        return Files.contains(title, " startup") && !Files.contains(title, "[local]")
      }
    }
  }
}
