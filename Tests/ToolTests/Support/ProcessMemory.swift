import Foundation
import Testing

/// A process's memory as the kernel reports it, in kB.
enum ProcessMemory {
  /// The largest resident memory so far.
  static func peak(of pid: pid_t) throws -> Int {
    try value("VmHWM", in: "/proc/\(pid)/status")
  }

  /// The memory that its end would free: resident and not shared with another process.
  static func unique(of pid: pid_t) throws -> Int {
    let file = "/proc/\(pid)/smaps_rollup"
    return try value("Private_Clean", in: file) + value("Private_Dirty", in: file)
  }

  /// What it has allocated: its heap and its stacks. The pages of its program do not count, because
  /// they become its own when the last other process of that program ends.
  static func allocated(of pid: pid_t) throws -> Int {
    try value("RssAnon", in: "/proc/\(pid)/status")
  }

  /// The largest resident memory so far; nil if the process has ended.
  static func peakSoFar(of pid: pid_t) -> Int? {
    let text = try? contents(of: "/proc/\(pid)/status")
    return text?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      .flatMap { Int($0.filter(\.isNumber)) }
  }

  private static func value(_ name: String, in file: String) throws -> Int {
    let text = try contents(of: file)
    let line = try #require(
      text.split(separator: "\n").first { $0.hasPrefix(name + ":") }, "no \(name) in \(file)")
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
  }
}
