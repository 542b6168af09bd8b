import Basics
import CLinux
import CommandLine
import Glibc
import SwiftOverlayShims  // where this compiler finds the members of timeval

/// The cost of one run of a program.
struct Measurement {
  /// From the start of the program to its end.
  var seconds: Double
  /// Processor time of the program and of those children that it has waited for.
  var clientCPU: Double
  /// Processor time of all processes of the server.
  var serverCPU = 0.0
  /// Processor time of all processes on the machine meanwhile.
  var machineCPU: Double
  /// The largest memory of the program or a child of it, in bytes.
  var peakMemory: Int
  /// Bytes written to the write-ahead log.
  var wal = 0
  /// Its standard output, without spaces and ends of lines around it.
  var output: String

  /// Processor time of other processes, which distorts the figures.
  var othersCPU: Double { max(0, machineCPU - clientCPU - serverCPU) }

  /// Runs a program to its end; throws unless it ends with status 0.
  ///
  /// - Parameter folder: The folder for the files with its output.
  init(of program: ChildProcess, in folder: String) throws {
    let output = try OutputFile(folder + "/output")
    let errors = try OutputFile(folder + "/errors")
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }

    Self.shrink()
    let busy = SystemLoad.busy
    let begun = MonotonicClock.now()
    let pid = try program.spawn(
      input: nothing, output: output.descriptor, errors: errors.descriptor)
    var status: Int32 = 0
    var usage = rusage()
    while wait4(pid, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw BenchFailure("could not wait for a program") }
    }
    seconds = (MonotonicClock.now() - begun).inSeconds
    machineCPU = SystemLoad.busy - busy
    guard status == 0 else {
      try Bench.stopIfAsked()
      throw BenchFailure(
        "\(program.executable) failed", detail: String(errors.contents().suffix(2000)))
    }
    clientCPU = [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
    }
    peakMemory = usage.ru_maxrss * 1024
    self.output = output.contents()
  }

  /// A child starts in its parent's memory, which the system counts in the child's peak. So this
  /// program releases idle memory, and resets its own peak.
  private static func shrink() {
    quake_release_idle_memory()
    let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    write(descriptor, "5", 1)
    close(descriptor)
  }
}

/// A file that a program writes its output to.
final class OutputFile {
  let descriptor: Int32

  init(_ path: String) throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw BenchFailure("could not make file \"\(path)\": \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// What has been written, without white space around it.
  func contents() -> String {
    var bytes = [UInt8](repeating: 0, count: Int(max(0, lseek(descriptor, 0, SEEK_END))))
    let count = pread(descriptor, &bytes, bytes.count, 0)
    var text = Substring(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text.drop(while: \.isWhitespace))
  }
}

/// The runs of one contender.
struct Series {
  var runs: [Measurement] = []

  /// The median of a figure; nan if there is none.
  func median(_ figure: (Measurement) -> Double) -> Double { runs.map(figure).median }

  /// The columns of a table of runs.
  ///
  /// - Parameter reference: The name of the row that the ratios refer to.
  static func columns(reference: String) -> [ResultTable.Column] {
    [
      .init("runs", "runs", places: 0), .init("seconds", "seconds", places: 3),
      .init("seconds_min", "fastest", places: 3), .init("seconds_max", "slowest", places: 3),
      .init("ratio", "× \(reference)", places: 2),
      .init("client_cpu_seconds", "client CPU s", places: 2),
      .init("server_cpu_seconds", "server CPU s", places: 2),
      .init("others_cpus", "others' CPUs", places: 2),
      .init("peak_memory_mb", "peak MB", places: 1), .init("wal_mb", "WAL MB", places: 2),
    ]
  }

  /// The values for `columns(reference:)`: medians, but for the fastest, the slowest and the peak of
  /// memory, which are those of all runs, and the average of the others' processors. MB are 1,000,000 bytes.
  ///
  /// - Parameter reference: The runs that the ratio refers to; nil: they were not measured.
  func figures(reference: Series?) -> [Double?] {
    let seconds = median(\.seconds)
    return [
      Double(runs.count), seconds, runs.map(\.seconds).min(), runs.map(\.seconds).max(),
      reference.map { seconds / $0.median(\.seconds) },
      median(\.clientCPU), median(\.serverCPU),
      runs.reduce(0) { $0 + $1.othersCPU } / runs.reduce(0) { $0 + $1.seconds },
      runs.map { Double($0.peakMemory) / 1e6 }.max(), median { Double($0.wal) / 1e6 },
    ]
  }
}

extension [Double] {
  /// The middle one, or the mean of the two in the middle; nan if there is none.
  var median: Double {
    guard !isEmpty else { return .nan }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }

  /// The value that this share of the elements do not exceed; nan if there is none.
  func quantile(_ share: Double) -> Double {
    guard !isEmpty else { return .nan }
    return sorted()[Int((Double(count - 1) * share).rounded())]
  }
}
