import Basics
import CommandLine
import Glibc
import QuakeTool

/// The program's command line.
enum BenchCommand {
  static let table = Command(
    "quake-bench", purpose: "measure Quake against PostgreSQL's limit and against a script",
    discussion: """
      Prepares its data from a seed, starts a PostgreSQL of its own in a temporary folder, runs every \
      contender alternately, each from a fresh state, and prints medians, spread, ratios, processor \
      time, memory and write-ahead log. It fails if a contender leaves wrong rows, and never because of a time.

      Workloads: \(WorkloadList.all.map { "\($0.letter) \($0.title)" }.joined(separator: "; ")).

      Contenders: \(Contender.all.map { "\($0.name) (\($0.summary))" }.joined(separator: "; ")).

      "quake-bench stream-load DATABASE PORT PROCESS" loads a running quake-serve with 10,000 clients of its stream.
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
      .value("repeat", "N", default: "5", help: "runs of each contender"),
      .flag(
        "quick",
        help: "100,000 events, a store grown to 200,000, 3 runs, unless other options are given"),
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
      .init("PYTHON", "the Python that has psycopg; by default python3"),
      .init("QUAKE_PG_BIN", "folder of the PostgreSQL programs"),
      .init("QUAKE_SERVER_USER", "account the server runs as when root starts it"),
    ],
    exitStatuses: [
      .init(.ok), .init(.failed, "a contender failed, or left wrong rows"), .init(.usage),
      .init(.unavailable),
    ])

  /// The workloads one after the other, on a server in a temporary folder.
  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    Signals.install()
    do {
      let options = try BenchOptions(arguments)
      let folder = try makeFolder(in: options.folder)
      defer { _ = try? ChildProcess("/bin/rm", ["-rf", folder]).run() }
      let bench = try Bench(options, folder: folder, diagnostics)
      defer { bench.server.stop() }
      try run(bench)
      guard bench.failures.isEmpty else {
        diagnostics.error("\(bench.failures.count) of the runs failed")
        return .failed
      }
      return .ok
    } catch {
      guard let failure = Failure(error) else { throw error }
      failure.report(to: diagnostics)
      return failure.status
    }
  }

  private static func run(_ bench: Bench) throws {
    let options = bench.options
    var report = try Report(bench)
    let output = StandardOutput()
    try output.write(options.writesJSON ? report.headJSON() : report.headText())
    try output.flush()
    for workload in WorkloadList.all where options.only?.contains(workload.letter) ?? true {
      try Bench.stopIfAsked()
      bench.diagnostics.note("workload \(workload.letter): \(workload.title)")
      let table = try workload.run(bench)
      report.tables.append(table)
      try output.write(options.writesJSON ? table.json() : table.text())
      try output.flush()
      // After each workload, so that an interrupted run leaves its tables.
      guard let file = options.markdown else { continue }
      do {
        try AtomicFile(file).write(Array(report.markdown().utf8))
      } catch {
        throw BenchFailure("could not write file \"\(file)\": \(error)")
      }
    }
  }

  private static func makeFolder(in parent: String) throws -> String {
    var path = Array("\(parent)/quake-bench-XXXXXX".utf8CString)
    guard mkdtemp(&path) != nil else {
      throw BenchFailure(
        "could not make a folder in \"\(parent)\": \(String(cString: strerror(errno)))")
    }
    // The server's account must be able to enter it.
    chmod(path, 0o711)
    return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// The options: what to measure, and how often.
struct BenchOptions {
  /// Letters of the workloads, and names of the contenders; nil: all.
  var only: [String]?
  var contenders: [String]?
  /// Events of the large workloads, of the month feed, and of the store that has grown.
  var events: Int
  var monthEvents: Int
  var grownEvents: Int
  /// Runs of each contender.
  var repeats: Int
  /// Whether it is a short run; for workloads with sizes of their own.
  var isQuick: Bool
  /// The folder of Quake's tools.
  var bin: String
  /// Where the temporary folder is made.
  var folder: String
  /// The file for the tables; nil: none.
  var markdown: String?
  var writesJSON: Bool
  /// The Python that has psycopg.
  var python: String

  init(_ arguments: ParsedArguments) throws {
    isQuick = arguments.flag("quick")
    func list(_ option: String, of names: [String]) throws -> [String]? {
      arguments.isGiven(option) ? try arguments.list(option, of: names) : nil
    }
    only = try list("only", of: WorkloadList.all.map(\.letter))
    contenders = try list("contenders", of: Contender.all.map(\.name))
    events =
      try arguments.integer("events", in: 1000...20_000_000) ?? (isQuick ? 100_000 : 1_000_000)
    monthEvents = try arguments.integer("month-events", in: 100...200_000) ?? 11_000
    grownEvents =
      try arguments.integer("grown-events", in: 1000...50_000_000)
      ?? (isQuick ? 200_000 : 5_000_000)
    repeats = try arguments.integer("repeat", in: 1...1000) ?? (isQuick ? 3 : 5)
    bin =
      arguments.string("bin")
      ?? Self.program.lastIndex(of: "/").map { String(Self.program[..<$0]) } ?? "."
    folder = arguments.string("folder") ?? TemporaryFolder.path
    markdown = arguments.string("markdown")
    writesJSON = arguments.flag("json")
    python = Environment.value("PYTHON") ?? "python3"
  }

  /// This program's file.
  static let program: String = {
    guard let path = realpath("/proc/self/exe", nil) else { return "quake-bench" }
    defer { free(path) }
    return String(cString: path)
  }()
}

/// A fault that invalidates a measurement.
struct BenchFailure: ExplainedError {
  let message: String
  let detail: String?
  var category: ErrorCategory { .failed }

  init(_ message: String, detail: String? = nil) {
    self.message = message
    self.detail = detail
  }
}
