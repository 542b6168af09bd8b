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
