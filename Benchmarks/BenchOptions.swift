import CommandLine
import Glibc
import QuakeTool

/// The options: what to measure, and how often.
struct BenchOptions {
  /// Letters of the workloads; nil: all.
  var only: [String]?
  /// Names of the contenders; nil: all that are installed.
  var contenders: [String]?
  /// Events of the large workloads.
  var events: Int
  /// Events of the month feed.
  var monthEvents: Int
  /// Events of the store that has grown.
  var grownEvents: Int
  /// Runs of each contender.
  var repeats: Int
  /// The seed of the data.
  var seed: UInt64
  /// Whether it is a short run; for workloads with sizes of their own.
  var isQuick: Bool
  /// The folder of Quake's tools.
  var bin: String
  /// Where the temporary folder is made.
  var folder: String
  /// The file for the tables; nil: none.
  var markdown: String?
  var writesJSON: Bool
  /// The Python of the peers that are scripts.
  var python: String

  init(_ arguments: ParsedArguments) throws {
    isQuick = arguments.flag("quick")
    let letters = WorkloadList.all.map(\.letter)
    only = arguments.isGiven("only") ? try arguments.list("only", of: letters) : nil
    let names = ContenderList.all.map(\.name)
    contenders =
      arguments.isGiven("contenders") ? try arguments.list("contenders", of: names) : nil
    events =
      try arguments.integer("events", in: 1000...20_000_000) ?? (isQuick ? 100_000 : 1_000_000)
    monthEvents = try arguments.integer("month-events", in: 100...200_000) ?? 11_000
    grownEvents =
      try arguments.integer("grown-events", in: 1000...50_000_000)
      ?? (isQuick ? 200_000 : 5_000_000)
    repeats = try arguments.integer("repeat", in: 1...1000) ?? (isQuick ? 3 : 5)
    seed = UInt64(try arguments.integer("seed", in: 0...) ?? 1)
    bin = arguments.string("bin") ?? Self.ownFolder
    folder = arguments.string("folder") ?? TemporaryFolder.path
    markdown = arguments.string("markdown")
    writesJSON = arguments.flag("json")
    python = Environment.value("PYTHON") ?? "python3"
  }

  /// This program's file.
  static var program: String {
    guard let path = realpath("/proc/self/exe", nil) else { return "quake-bench" }
    defer { free(path) }
    return String(cString: path)
  }

  private static var ownFolder: String {
    let program = program
    return program.lastIndex(of: "/").map { String(program[..<$0]) } ?? "."
  }
}
