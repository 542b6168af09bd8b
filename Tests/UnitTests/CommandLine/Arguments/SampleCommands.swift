import TestSupport

@testable import CommandLine

/// Commands like those of the tools, for the tests.
enum Sample {
  static let common: [Option] = [
    .value("database", "URL", default: "the embedded server", help: "PostgreSQL to connect to"),
    .quiet, .verbose,
  ]

  static let ingest = Command(
    "quake-ingest", purpose: "Load earthquake feeds into PostgreSQL", version: "1.2.3",
    options: common,
    subcommands: [
      Command(
        "run", purpose: "Load feeds again and again",
        discussion: "Runs until it is told to stop.\n\nA feed that fails is tried again later.",
        options: [
          .value(
            "feed", short: "f", "NAME|URL|FILE", repeatable: true, default: "all_hour",
            completion: .words(["all_hour", "all_day"]), help: "feed to load"),
          .value("every", "DURATION", default: "60s", help: "how long to wait between two rounds"),
          .flag("once", help: "load each feed once and end"),
          .toggle("migrate", initially: true, help: "do not change the database schema"),
          .flag("dry-run", short: "n", help: "say what would be done, and do nothing"),
        ],
        examples: [
          .init("quake-ingest run", "the last hour, every minute"),
          .init("quake-ingest run --feed all_day --every 5m", "the last day, every five minutes"),
        ]),
      Command(
        "import", purpose: "Load files once",
        options: [
          .flag("json", help: "print a line of JSON for each source"),
          .value("commit-every", "N", help: "commit after each N events"),
        ],
        positionals: [
          Positional("SOURCE", .oneOrMore, completion: .files, help: "a file, a URL or a feed")
        ]),
    ],
    environment: [.init("DATABASE_URL", "PostgreSQL to connect to, unless --database is given")],
    exitStatuses: [.init(.ok), .init(.failed), .init(.usage), .init(.unavailable)])

  static let watch = Command(
    "quake-watch", purpose: "Print changes as they happen", version: "1.2.3",
    options: [
      .value("after", "TOKEN", help: "begin after this token"),
      .flag("from-start", help: "begin at the start of the history"),
      .value("limit", "N", help: "end after N changes"),
      .value("min-magnitude", short: "m", "M", help: "only quakes at least this strong"),
      .value("every", "DURATION", help: "how often to look"),
      .value("op", "OP,...", repeatable: true, help: "only these operations"),
      .value("bbox", "W,S,E,N", help: "only quakes in this box"),
      .value("state", "FILE", completion: .files, help: "keep the last token in this file"),
      .toggle("follow", initially: true, help: "end when all is printed"),
      .flag("json", short: "j", help: "print JSON"),
      .optionalValue("batch", "COMMAND", help: "hand over whole transactions"),
    ] + common)

  static let admin = Command(
    "quake-admin", purpose: "Look after the database", version: "1.2.3", options: common,
    subcommands: [
      Command("migrate", purpose: "Bring the schema up to date"),
      Command(
        "server", purpose: "Control the embedded server",
        subcommands: [
          Command("start", purpose: "Start it"),
          Command("stop", purpose: "Stop it"),
          Command(
            "psql", purpose: "Open psql",
            positionals: [Positional("ARGUMENT", .passedThrough, help: "handed to psql")]),
        ]),
    ])

  /// Subject and optional object: for the rules about arguments.
  static let move = Command(
    "move", purpose: "Move",
    positionals: [
      Positional("FROM", help: "where from"), Positional("TO", .optional, help: "where to"),
    ])

  static func run(_ command: Command, _ arguments: String...) throws -> ParsedArguments {
    try run(command, arguments)
  }

  static func run(_ command: Command, _ arguments: [String]) throws -> ParsedArguments {
    guard case .run(let parsed) = try command.parse(arguments) else {
      throw UnexpectedAnswer()
    }
    return parsed
  }

  /// The help that a command line asks for.
  static func help(_ command: Command, _ arguments: [String]) throws -> String {
    guard case .help(let text) = try command.parse(arguments) else {
      throw UnexpectedAnswer()
    }
    return text
  }

  /// The error's message, or nil when there is none.
  static func error(_ command: Command, _ arguments: String...) -> UsageError? {
    thrown { () throws(UsageError) in _ = try command.parse(arguments) }
  }

  struct UnexpectedAnswer: Error {}
}
