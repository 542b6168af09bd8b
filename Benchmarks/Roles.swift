import Basics
import CommandLine
import Glibc
import Postgres
import QuakeFeed
import QuakeModel

/// The role of this program when it starts itself as a child.
enum Role: String {
  /// Decodes a file, and prints how many events it has.
  case decode
  /// Commits a number of changes, twenty a second.
  case steadyCommits = "steady-commits"

  /// The argument before the role on the command line, which a user would not type by accident.
  private static let mark = "--as-child"

  /// The role that a command line names; nil: none.
  init?(_ arguments: [String]) {
    guard arguments.count == 3, arguments[0] == Self.mark else { return nil }
    self.init(rawValue: arguments[1])
  }

  /// This program in the role, with a file or a number.
  func program(_ argument: String, _ bench: Bench, database: String? = nil) -> ChildProcess {
    bench.program(BenchOptions.program, [Self.mark, rawValue, argument], database: database)
  }

  /// Performs the role and ends the process.
  func run() -> Never {
    let argument = ProcessArguments.current.last ?? ""
    do {
      switch self {
      case .decode: try Self.decode(argument)
      case .steadyCommits:
        try SteadyCommits.run(
          Int(argument) ?? 0, database: Environment.value("DATABASE_URL") ?? "")
      }
      exit(0)
    } catch {
      try? StandardOutput(descriptor: 2).writeLine("\(error)")
      exit(1)
    }
  }

  /// Decodes each event into a record.
  private static func decode(_ path: String) throws {
    let reader = try FeedReader(source: FileSource(path: path), name: path)
    var record = EventRecord()
    var count = 0
    while let item = try reader.next(into: &record) {
      if item == .record, record.has(.code) { count += 1 }
    }
    let output = StandardOutput()
    try output.writeLine("\(count)")
    try output.flush()
  }
}
