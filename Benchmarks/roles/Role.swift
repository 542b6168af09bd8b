import CommandLine
import Glibc
import QuakeFeed

/// The role of this program when it starts itself as a child.
enum Role: String, CaseIterable, Sendable {
  /// Decodes a file, and prints how many events it has.
  case decode
  /// Loads a file: a statement and a commit for each event.
  case oneByOne = "one-by-one"
  /// Loads a file in batches of dictionaries.
  case dictionaryBatches = "dictionary-batches"
  /// Commits a number of changes, twenty a second.
  case steadyCommits = "steady-commits"

  /// The argument before the role on the command line, which a user would not type by accident.
  private static let mark = "--as-child"

  /// The command line of the role; a file follows, or a number.
  var arguments: [String] { [Self.mark, rawValue] }

  /// The role that a command line names; nil: none.
  init?(_ arguments: [String]) {
    guard arguments.count == 3, arguments[0] == Self.mark else { return nil }
    self.init(rawValue: arguments[1])
  }

  /// Performs the role and ends the process.
  func run() -> Never {
    do {
      guard let path = ProcessArguments.current.last else { exit(64) }
      if self == .steadyCommits {
        try SteadyCommits.run(Int(path) ?? 0, database: database)
        exit(0)
      }
      let reader = try FeedReader(source: FileSource(path: path), name: path)
      switch self {
      case .decode:
        let output = StandardOutput()
        try output.writeLine("\(try Decoding.count(reader))")
        try output.flush()
      case .oneByOne: try OneByOne(PlainTable(database)).load(reader)
      case .steadyCommits: break
      case .dictionaryBatches: try DictionaryBatches(PlainTable(database)).load(reader)
      }
      exit(0)
    } catch {
      try? StandardOutput(descriptor: 2).writeLine("\(error)")
      exit(1)
    }
  }

  private var database: String { Environment.value("DATABASE_URL") ?? "" }
}
