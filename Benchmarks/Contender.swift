import Basics
import Postgres

/// A program that loads a file of events. Each has a file in `contenders` and a line in
/// `ContenderList.all`.
protocol Contender: Sendable {
  /// Its name on the command line and in the tables.
  var name: String { get }
  /// Its description in the help.
  var summary: String { get }
  /// The layout of its empty database. Contenders of the same layout leave the same rows, and share
  /// the databases that they start with.
  var layout: Layout { get }
  /// Whether it always loads into an empty database, as the limit does, whatever the others start from.
  var alwaysStartsEmpty: Bool { get }
  /// Whether it is so slow that the large files are loaded once, or not at all.
  var pace: Pace { get }
  /// Whether it keeps a history, which is then checked too.
  var keepsHistory: Bool { get }

  /// Whether it is installed.
  func availability(_ bench: Bench) -> Availability
  /// The program that loads `file` into a database.
  func command(loading file: DataFile, into database: String, _ bench: Bench) throws -> ChildProcess
  /// A query for one row: the figures of `Contents` of what it has stored.
  var contents: SQL { get }
}

/// The tables of a database before a load.
enum Layout: Hashable {
  /// Quake's schema.
  case quake
  /// `public.plain`: the columns, constraints and indexes of `quake.quake`, and no triggers.
  case plain
  /// No tables: the contender creates its own.
  case own(String)
}

/// How often a contender is run, which depends on the size of the file.
enum Pace {
  /// It runs as often as `--repeat` says.
  case quick
  /// With more than 50,000 events, or with `--quick`, it runs once.
  case slow
  /// With more than 50,000 events it does not run; with fewer it is treated as `slow`.
  case smallOnly

  static let large = 50_000

  /// How often it runs.
  func rounds(of repeats: Int, events: Int, isQuick: Bool) -> Int {
    let isLarge = events > Self.large
    switch self {
    case .quick: return repeats
    case .slow: return isLarge || isQuick ? 1 : repeats
    case .smallOnly: return isLarge ? 0 : isQuick ? 1 : repeats
    }
  }
}

/// Whether a contender can run.
enum Availability {
  /// Installed, with its versions for the report.
  case present(version: String)
  /// Missing, with how to get it.
  case absent(hint: String)
}

extension Contender {
  var alwaysStartsEmpty: Bool { false }
  var pace: Pace { .quick }
  var keepsHistory: Bool { false }
}

/// The contenders, in the order of the tables.
enum ContenderList {
  static let all: [any Contender] = [
    Limit(),
    QuakeImport(
      name: "quake", arguments: [],
      summary: "quake-ingest import, with history, token and notification"),
    QuakeImport(
      name: "quake-jobs", arguments: ["--jobs", "2", "--commit-every", "20000"], needs: "--jobs",
      summary: "the same with --jobs 2 --commit-every 20000"),
    OriginalWay(
      name: "one by one", role: .oneByOne, pace: .smallOnly,
      summary: "a statement and a commit for each record"),
    OriginalWay(
      name: "batches", role: .dictionaryBatches, pace: .slow,
      summary: "a statement and a commit for 256 records, decoded as dictionaries"),
    Psycopg(),
    Dlt(),
    Ogr2ogr(),
    JqCopy(),
  ]
}
