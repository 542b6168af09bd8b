/// A workload and its measurement. Each has a file in `workloads` and a line in `WorkloadList.all`.
protocol Workload: Sendable {
  /// Its name on the command line and in the tables.
  var letter: String { get }
  /// The work, in a few words.
  var title: String { get }

  /// Measures it. A failure of one contender is passed to `bench.fail`, and the others continue; an
  /// error that is thrown ends the whole run.
  func run(_ bench: Bench) throws -> ResultTable
}

/// The workloads, in the order they are run in.
enum WorkloadList {
  static let all: [any Workload] = [
    LoadWorkload(letter: "a", title: "month feed, first load", file: .month),
    LoadWorkload(letter: "b", title: "month feed, unchanged", file: .month, before: .month),
    LoadWorkload(
      letter: "c", title: "month feed, 2 % revised", file: .revisedMonth, before: .month),
    LoadWorkload(letter: "d", title: "large file, first load", file: .million),
    LoadWorkload(letter: "e", title: "large file, unchanged", file: .million, before: .million),
    LoadWorkload(
      letter: "f", title: "large file, 5 % revised", file: .revisedMillion, before: .million),
    DecodeWorkload(letter: "g", title: "decoding alone"),
    LatencyWorkload(letter: "h", title: "from a commit to its watchers"),
    CatchUpWorkload(letter: "i", title: "catching up"),
    SmallTransactionsWorkload(letter: "j", title: "small transactions"),
    GrowthWorkload(letter: "k", title: "a store that has grown"),
    ReadingWorkload(letter: "l", title: "reading all of it"),
  ]
}
