import Glibc

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
