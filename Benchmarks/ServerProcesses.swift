import Glibc

/// The processes of a PostgreSQL server, as the system counts their time.
struct ServerProcesses {
  let postmaster: Int32

  /// Processor time in seconds of all of them since the server was started: of those that run, and of
  /// those that have ended, which the postmaster has waited for.
  var cpu: Double {
    let all = Self.names(in: "/proc").compactMap { Int32($0) }.compactMap { Self.process($0) }
    let ticks = all.filter { $0.pid == postmaster || $0.parent == postmaster }
      .reduce(0) { $0 + $1.ticks }
    return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private struct Process {
    var pid: Int32
    var parent: Int32
    /// Its own and those of the children it has waited for.
    var ticks: Int
  }

  private static func process(_ pid: Int32) -> Process? {
    guard let text = SystemFile.text("/proc/\(pid)/stat"),
      // The program's name, in parentheses, may hold anything.
      let name = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: name)...].split(separator: " ")
    guard fields.count > 15, let parent = Int32(fields[1]) else { return nil }
    return Process(
      pid: pid, parent: parent, ticks: fields[11...14].reduce(0) { $0 + (Int($1) ?? 0) })
  }

  private static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }
}
