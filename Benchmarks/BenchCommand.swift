import CommandLine
import QuakeTool

/// The program's command line.
enum BenchCommand {
  static let table = Command(
    "quake-bench", purpose: "measure Quake against PostgreSQL's limit and against its peers",
    discussion: """
      Prepares its data from a seed, starts a PostgreSQL of its own in a temporary folder, runs every \
      contender alternately, each from a fresh state, and prints medians, spread, ratios, processor \
      time, memory and write-ahead log. It fails if a contender leaves wrong rows, and never because of a time.

      Workloads: \(WorkloadList.all.map { "\($0.letter) \($0.title)" }.joined(separator: "; ")).

      Contenders: \(ContenderList.all.map { "\($0.name) (\($0.summary))" }.joined(separator: "; ")).
      """,
    version: productVersion,
    options: [
      .value(
        "only", "LETTERS", repeatable: true,
        help: "these workloads, separated by commas, instead of all"),
      .value(
        "contenders", "NAMES", repeatable: true,
        help: "these contenders, separated by commas, instead of all installed ones"),
      .value("events", "N", default: "1000000", help: "events of the large workloads"),
      .value("month-events", "N", default: "11000", help: "events of the month feed"),
      .value("grown-events", "N", default: "5000000", help: "events of the store that has grown"),
      .value("repeat", "N", default: "5", help: "runs of each contender; slow ones run less often"),
      .value("seed", "N", default: "1", help: "the same seed gives the same data"),
      .flag(
        "quick",
        help: """
          100,000 events, a store grown to 200,000, 3 runs (1 of slow contenders), unless other options are given
          """),
      .value(
        "bin", "FOLDER", completion: .folders,
        help: "folder of Quake's tools; by default that of this program"),
      .value(
        "folder", "FOLDER", default: "$TMPDIR, or /tmp", completion: .folders,
        help: "where to make the temporary folder with data and server"),
      .value(
        "markdown", "FILE", completion: .files, help: "write the tables to FILE as Markdown, too"),
      .flag("json", help: "one JSON object for each row instead of tables"),
      .quiet, .verbose, .logFormat,
    ],
    examples: [
      .init("quake-bench --quick", "every workload, with little data"),
      .init("quake-bench --only d --contenders limit,quake", "the first load of a million events"),
    ],
    environment: [
      .init("PYTHON", "the Python that has the peers' packages; by default python3"),
      .init("QUAKE_PG_BIN", "folder of the PostgreSQL programs"),
      .init("QUAKE_SERVER_USER", "account the server runs as when root starts it"),
    ],
    exitStatuses: [
      .init(.ok), .init(.failed, "a contender failed, or left wrong rows"), .init(.usage),
      .init(.unavailable),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    Signals.install()
    do {
      return try Run(BenchOptions(arguments), diagnostics).run()
    } catch {
      guard let failure = Failure(error) else { throw error }
      failure.report(to: diagnostics)
      return failure.status
    }
  }
}
