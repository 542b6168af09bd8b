import CommandLine

extension Series {
  /// The columns of a table of runs.
  ///
  /// - Parameter reference: What the ratio is to; nil: there is no ratio.
  static func columns(reference: String?) -> [ResultTable.Column] {
    var columns: [ResultTable.Column] = [
      .init("runs", "runs", places: 0), .init("seconds", "seconds", places: 3),
      .init("seconds_min", "fastest", places: 3), .init("seconds_max", "slowest", places: 3),
    ]
    if let reference { columns.append(.init("ratio", "× \(reference)", places: 2)) }
    return columns + [
      .init("client_cpu_seconds", "client CPU s", places: 2),
      .init("server_cpu_seconds", "server CPU s", places: 2),
      .init("others_cpus", "others' CPUs", places: 2),
      .init("peak_memory_mb", "peak MB", places: 1), .init("wal_mb", "WAL MB", places: 2),
    ]
  }

  /// The values for `columns(reference:)`: medians, but for the fastest, the slowest and the peak of
  /// memory, which are those of all runs. MB are 1,000,000 bytes.
  func figures(reference: Series?, hasRatio: Bool = true) -> [Double?] {
    var values: [Double?] = [
      Double(runs.count), seconds, runs.map(\.seconds).min(), runs.map(\.seconds).max(),
    ]
    if hasRatio { values.append(reference.map { seconds / $0.seconds }) }
    return values + [
      median(\.clientCPU), median(\.serverCPU), othersShare,
      runs.map { Double($0.peakMemory) / 1e6 }.max(), median { Double($0.wal) / 1e6 },
    ]
  }
}

extension Bench {
  /// Says how a run went.
  func progress(_ letter: String, _ name: String, _ round: Int, _ run: Measurement) {
    diagnostics.note(
      "\(letter): \(name), run \(round + 1): \(Readable.decimal(run.seconds, places: 3)) s")
  }
}
