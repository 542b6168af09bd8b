import Glibc

/// The processes of a PostgreSQL server, and their processor time.
struct ServerProcesses {
  let postmaster: Int32

  /// Processor time in seconds of all of them since the server was started: of those that run, and
  /// of those that have ended and that the postmaster has waited for.
  var cpu: Double {
    while true {
      let before = Self.process(postmaster)
      let children = Self.names(in: "/proc").compactMap { Int32($0) }
        .compactMap { Self.process($0) }.filter { $0.parent == postmaster }
      let after = Self.process(postmaster)
      // A process that ended meanwhile may be in both figures, or in neither.
      guard before?.waitedFor == after?.waitedFor else { continue }
      let ticks = ([after].compactMap { $0 } + children).reduce(0) { $0 + $1.own + $1.waitedFor }
      return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
  }

  /// Processor time in seconds of one process.
  static func cpu(of pid: Int32) -> Double {
    Double(process(pid)?.own ?? 0) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private struct Process {
    var parent: Int32
    /// Its own clock ticks.
    var own: Int
    /// Those of the children it has waited for.
    var waitedFor: Int
  }

  private static func process(_ pid: Int32) -> Process? {
    guard let text = SystemFile.text("/proc/\(pid)/stat"),
      // The program's name, in parentheses, may contain any character.
      let name = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: name)...].split(separator: " ")
    guard fields.count > 15, let parent = Int32(fields[1]) else { return nil }
    let ticks = fields[11...14].map { Int($0) ?? 0 }
    return Process(parent: parent, own: ticks[0] + ticks[1], waitedFor: ticks[2] + ticks[3])
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
