import Glibc

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
        return Files.contains(title, " startup") && !Files.contains(title, "[local]")
      }
    }
  }
}
