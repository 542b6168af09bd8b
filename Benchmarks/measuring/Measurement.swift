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
