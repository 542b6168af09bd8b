internal import Basics
internal import Glibc
internal import SwiftOverlayShims  // where this compiler finds the members of timespec

/// What the running process uses of the machine, in Prometheus's names and units.
package struct ProcessFigures {
  /// Writes the figures of this process.
  ///
  /// - Parameters:
  ///   - prefix: The beginning of each name. Where a collector adds figures of its own process, as node_exporter
  ///     does, it must be another than `process_`.
  ///   - labels: The labels of each value.
  package static func write(
    to text: inout PrometheusText, prefix: String = "process_",
    labels: KeyValuePairs<String, String> = [:]
  ) {
    func write(_ name: String, _ kind: PrometheusText.Kind, _ help: String, _ value: Double?) {
      text.metric(prefix + name, kind, help, [.init(value, labels)])
    }
    write("open_fds", .gauge, "Open file descriptors.", openDescriptors)
    write("max_fds", .gauge, "Largest number of open file descriptors.", mostDescriptors)
    let sizes = memory
    write("resident_memory_bytes", .gauge, "Memory in use.", sizes?.resident)
    write("virtual_memory_bytes", .gauge, "Address space in use.", sizes?.virtual)
    write("cpu_seconds_total", .counter, "Processor time, of the system and the user.", processor)
    write("start_time_seconds", .gauge, "When the process started, since 1970.", started)
  }

  private static var openDescriptors: Double? {
    var folder = stat()
    // From Linux 6.2 on, the size of the folder is their number.
    if stat("/proc/self/fd", &folder) == 0, folder.st_size > 0 { return Double(folder.st_size) }
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    // The folder has ".", "..", and the descriptor that reads it.
    var count = -3.0
    while readdir(folder) != nil { count += 1 }
    return count
  }

  private static var mostDescriptors: Double? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return Double(limit.rlim_cur)
  }

  private static var memory: (virtual: Double, resident: Double)? {
    guard let pages = contents(of: "/proc/self/statm")?.split(separator: " "), pages.count > 1,
      let virtual = Double(pages[0]), let resident = Double(pages[1])
    else { return nil }
    let page = Double(sysconf(Int32(_SC_PAGESIZE)))
    return (virtual * page, resident * page)
  }

  private static var processor: Double? {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// It is read once: the system counts it from its own start.
  private static let started: Double? = {
    // The name of the program, in parentheses, may have spaces.
    guard
      let fields = contents(of: "/proc/self/stat")?.split(separator: ")").last?
        .split(separator: " "), fields.count > 19, let ticks = Double(fields[19]),
      let boot = contents(of: "/proc/stat")?.split(separator: "\n")
        .first(where: { $0.hasPrefix("btime ") })?.split(separator: " ").last,
      let seconds = Double(boot)
    else { return nil }
    return seconds + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }()

  /// The contents of a file of /proc, which reports no size; nil if there is no such file.
  package static func contents(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return (try? SystemCalls.read(descriptor, atMost: 4 << 20)).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
