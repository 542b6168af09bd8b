import Basics
import CLinux
import CommandLine
import Glibc
import SwiftOverlayShims  // where this compiler finds the members of timeval

/// The cost of one run.
struct Measurement {
  /// From the start of the program to its end.
  var seconds: Double
  /// Processor time of the program and of its children.
  var clientCPU: Double
  /// Processor time of all processes of the server.
  var serverCPU: Double
  /// The largest memory of the program or a child of it, in bytes.
  var peakMemory: Int
  /// Bytes written to the write-ahead log.
  var wal: Int
  /// Processor time of other processes on the machine, which distorts the figures.
  var othersCPU: Double
}

extension Measurement {
  /// The cost of a program, with the server's part.
  init(_ usage: MeasuredChild.Usage, serverCPU: Double = 0, wal: Int = 0) {
    self.init(
      seconds: usage.seconds, clientCPU: usage.cpu, serverCPU: serverCPU,
      peakMemory: usage.peakMemory, wal: wal,
      othersCPU: max(0, usage.machineCPU - usage.cpu - serverCPU))
  }
}

/// The runs of one contender.
struct Series {
  var runs: [Measurement] = []

  /// The median of a figure; nan if there is none.
  func median(_ figure: (Measurement) -> Double) -> Double { runs.map(figure).median }

  /// The median of the seconds.
  var seconds: Double { median(\.seconds) }

  /// The number of processors that other processes kept busy during the runs, on average.
  var othersShare: Double {
    runs.reduce(0) { $0 + $1.othersCPU } / runs.reduce(0) { $0 + $1.seconds }
  }
}

extension [Double] {
  /// The middle one, or the mean of the two in the middle; nan if there is none.
  var median: Double {
    guard !isEmpty else { return .nan }
    let sorted = sorted()
    let middle = count / 2
    return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}

extension Series {
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
  /// memory, which are those of all runs. MB are 1,000,000 bytes.
  ///
  /// - Parameter reference: The runs that the ratio refers to; nil: they were not measured.
  func figures(reference: Series?) -> [Double?] {
    [
      Double(runs.count), seconds, runs.map(\.seconds).min(), runs.map(\.seconds).max(),
      reference.map { seconds / $0.seconds },
      median(\.clientCPU), median(\.serverCPU), othersShare,
      runs.map { Double($0.peakMemory) / 1e6 }.max(), median { Double($0.wal) / 1e6 },
    ]
  }
}

extension Bench {
  /// Reports the time of a run.
  func progress(_ letter: String, _ name: String, _ round: Int, _ run: Measurement) {
    diagnostics.note(
      "\(letter): \(name), run \(round + 1): \(Readable.decimal(run.seconds, places: 3)) s")
  }
}

/// Runs a program to its end and measures its cost.
struct MeasuredChild {
  /// The resources that the system reports for it.
  struct Usage {
    var seconds: Double
    /// Processor time of the program and of those children that it has waited for.
    var cpu: Double
    /// Processor time of all processes on the machine meanwhile.
    var machineCPU: Double
    /// The largest memory of the program or a child of it, in bytes.
    var peakMemory: Int
    /// Its standard output.
    var output: [UInt8]
  }

  /// The folder for the files with its output.
  let folder: String

  /// Runs a program; throws unless it ends with status 0.
  func run(_ program: ChildProcess) throws -> Usage {
    let output = try descriptor("output", O_RDWR | O_CREAT | O_TRUNC)
    defer { close(output) }
    let errors = try descriptor("errors", O_RDWR | O_CREAT | O_TRUNC)
    defer { close(errors) }
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }

    Self.shrink()
    let busy = SystemLoad.busy
    let begun = MonotonicClock.now()
    let pid = try program.spawn(
      ChildProcess.Descriptors(input: nothing, output: output, errors: errors))
    var status: Int32 = 0
    var usage = rusage()
    while wait4(pid, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw BenchFailure("could not wait for a program") }
    }
    let elapsed = (MonotonicClock.now() - begun).inSeconds
    let machineCPU = SystemLoad.busy - busy
    guard status == 0 else {
      try Run.stopIfAsked()
      throw BenchFailure(
        "\(program.executable) failed",
        detail: String(decoding: Self.contents(errors).suffix(2000), as: UTF8.self))
    }
    return Usage(
      seconds: elapsed, cpu: Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime),
      machineCPU: machineCPU, peakMemory: usage.ru_maxrss * 1024, output: Self.contents(output))
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

  private func descriptor(_ name: String, _ flags: Int32) throws -> Int32 {
    let path = "\(folder)/\(name)"
    let descriptor = open(path, flags | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw BenchFailure("could not make file \"\(path)\": \(String(cString: strerror(errno)))")
    }
    return descriptor
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
  }

  private static func contents(_ descriptor: Int32) -> [UInt8] {
    let size = lseek(descriptor, 0, SEEK_END)
    guard size > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }
}
