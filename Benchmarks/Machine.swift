import CommandLine
import Glibc

/// The description of this machine.
struct Machine: CustomStringConvertible {
  /// Such as `AMD EPYC 7B13, 2 cores, 24 GiB, Linux 6.1.0`.
  let description: String

  init() {
    let processor = Self.value(of: "model name", in: "/proc/cpuinfo") ?? "unknown processor"
    let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let memory = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    let kernel = SystemFile.text("/proc/sys/kernel/osrelease")?.split(separator: "\n").first ?? ""
    description =
      "\(processor), \(cores) core\(cores == 1 ? "" : "s"), \(Readable.bytes(memory)), Linux \(kernel)"
  }

  /// The text after the colon in the first line that begins with a name.
  private static func value(of name: String, in path: String) -> String? {
    for line in (SystemFile.text(path) ?? "").split(separator: "\n") where line.hasPrefix(name) {
      guard let colon = line.firstIndex(of: ":") else { continue }
      return String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    return nil
  }
}

/// The compiler that this program and the tools were built with, as far as the source code can
/// tell.
enum SwiftVersion {
  #if compiler(>=6.4)
    static let text = "6.4 or later"
  #elseif compiler(>=6.3)
    static let text = "6.3"
  #elseif compiler(>=6.2)
    static let text = "6.2"
  #elseif compiler(>=6.1)
    static let text = "6.1"
  #else
    static let text = "6.0"
  #endif
}

/// The load of the processors of this machine.
enum SystemLoad {
  /// Seconds that they have been busy since the machine was started.
  static var busy: Double {
    // "cpu  user nice system idle iowait irq softirq steal", in clock ticks.
    let line = SystemFile.text("/proc/stat")?.split(separator: "\n").first ?? ""
    let ticks = line.split(separator: " ").dropFirst().prefix(8).map { Double($0) ?? 0 }
    guard ticks.count == 8 else { return 0 }
    return (ticks.reduce(0, +) - ticks[3] - ticks[4]) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}

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

/// Reads files of /proc, which report no size.
enum SystemFile {
  /// The contents, or nil if there is no such file.
  static func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        bytes.append(contentsOf: buffer.prefix(count))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Finds programs.
enum SearchPath {
  /// The path of a program: a path is taken as it is, a name is looked up in PATH; nil if there is
  /// none.
  static func find(_ name: String) -> String? {
    if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
    let folders = Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in folders.split(separator: ":") where access("\(folder)/\(name)", X_OK) == 0 {
      return "\(folder)/\(name)"
    }
    return nil
  }

  /// The path of a program; throws if there is none.
  static func require(_ name: String) throws -> String {
    guard let path = find(name) else { throw BenchFailure("there is no \(name)") }
    return path
  }
}
