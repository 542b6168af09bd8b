import CommandLine
import Glibc
import QuakeTool

/// The machine that the figures are from.
enum Machine {
  /// Such as `AMD EPYC 7B13, 2 cores, 24 GiB, Linux 6.1.0`.
  static var description: String {
    let processor =
      ProcFile.lines("cpuinfo").first { $0.hasPrefix("model name") }
      .flatMap { $0.split(separator: ":", maxSplits: 1).last }.map { $0.drop { $0 == " " } }
    let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let memory = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    let kernel = ProcFile.lines("sys/kernel/osrelease").first ?? ""
    return "\(processor ?? "unknown processor"), \(cores) core\(cores == 1 ? "" : "s"), "
      + "\(Readable.bytes(memory)), Linux \(kernel)"
  }

  /// The compiler that this program and the tools were built with, as far as the source code can tell.
  #if compiler(>=6.4)
    static let swift = "6.4 or later"
  #elseif compiler(>=6.3)
    static let swift = "6.3"
  #else
    static let swift = "6.2"
  #endif
}

/// The load of the processors of this machine.
enum SystemLoad {
  /// Seconds that they have been busy since the machine was started.
  static var busy: Double {
    // "cpu  user nice system idle iowait irq softirq steal", in clock ticks.
    let line = ProcFile.lines("stat").first ?? ""
    let ticks = line.split(separator: " ").dropFirst().prefix(8).map { Double($0) ?? 0 }
    guard ticks.count == 8 else { return 0 }
    return (ticks.reduce(0, +) - ticks[3] - ticks[4]) / ProcFile.ticksPerSecond
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
      let children = Self.all().compactMap { Self.process($0) }.filter { $0.parent == postmaster }
      let after = Self.process(postmaster)
      // A process that ended meanwhile may be in both figures, or in neither.
      guard before?.waitedFor == after?.waitedFor else { continue }
      let ticks = ([after].compactMap { $0 } + children).reduce(0) { $0 + $1.own + $1.waitedFor }
      return Double(ticks) / ProcFile.ticksPerSecond
    }
  }

  /// Processor time in seconds of one process, exactly: /proc has whole ticks of 10 ms, and what a watcher takes
  /// for some commits is less.
  static func cpu(of pid: Int32) -> Double {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private struct Process {
    var parent: Int32
    /// Its own clock ticks, and those of the children it has waited for.
    var own: Int
    var waitedFor: Int
  }

  private static func process(_ pid: Int32) -> Process? {
    // The program's name, in parentheses, may contain any character.
    guard let text = ProcFile.text("\(pid)/stat"), let name = text.lastIndex(of: ")") else {
      return nil
    }
    let fields = text[text.index(after: name)...].split(separator: " ")
    guard fields.count > 15, let parent = Int32(fields[1]) else { return nil }
    let ticks = fields[11...14].map { Int($0) ?? 0 }
    return Process(parent: parent, own: ticks[0] + ticks[1], waitedFor: ticks[2] + ticks[3])
  }

  /// The ids of all processes of the machine.
  private static func all() -> [Int32] {
    guard let stream = opendir("/proc") else { return [] }
    defer { closedir(stream) }
    var ids: [Int32] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let id = Int32(name) { ids.append(id) }
    }
    return ids
  }
}

/// Reads files of /proc, which report no size.
enum ProcFile {
  static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

  /// The contents, or nil if there is no such file.
  static func text(_ name: String) -> String? {
    ProcessFigures.contents(of: "/proc/" + name)
  }

  static func lines(_ name: String) -> [Substring] {
    (text(name) ?? "").split(separator: "\n")
  }
}
