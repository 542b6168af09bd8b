import CommandLine

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
