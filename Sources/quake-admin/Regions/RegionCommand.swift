import Basics
import CommandLine
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool

/// `quake-admin region`: makes a database a copy of its centre, checks it, or makes it an ordinary one again.
enum RegionCommand {
  private static let centre = Option.value(
    "centre", "URL", help: "the centre's database, as the region's server reaches it")

  static let table = Command(
    "region", purpose: "make this database a copy of a centre, check it, or end that",
    discussion: """
      A region gets the events and the history of its centre by PostgreSQL's logical replication, with the same tokens: \
      watchers and servers read it like the centre, and move between both with their cursors. docs/regions.md has the \
      requirements and what is replicated. All subcommands run against the region's database.
      """,
    subcommands: [
      Command(
        "create", purpose: "make this database a region of a centre, or correct one",
        discussion: """
          The command makes publications and a slot at the centre, the subscription here, and waits for the first copy. \
          Where they exist it corrects them, so that it can be repeated: do so after each migration of the region. \
          It needs a superuser here; at the centre a role that may replicate and owns the schema.
          """,
        options: [
          centre,
          .flag(
            "anew",
            help: "remove the events and the history of this database, and copy the centre's"),
          .value(
            "timeout", "DURATION", default: "1h",
            help: "longest time to wait for the copy, which goes on afterwards"),
        ],
        positionals: [
          .init("NAME", .one, help: "the region's name: lower-case letters, digits, underscores")
        ],
        examples: [
          .init(
            "quake-admin region create eu --centre 'host=centre.example.org dbname=quake user=region'",
            "make this database the region eu"),
          .init(
            "quake-admin region create eu --centre 'host=centre.example.org dbname=quake' --anew",
            "copy everything anew, after the slot was lost"),
        ]),
      Command(
        "check", purpose: "examine this region and its centre, and say what to do",
        discussion: """
          Each line is ok, warning or problem, or "not seen"; below it is what to do. The command changes nothing. \
          Without --centre it uses the subscription's connection, which only a superuser may read.
          """,
        options: [
          centre, .flag("json", help: "one JSON object a line: check, state, found, next"),
        ],
        examples: [
          .init("quake-admin region check", "examine the region"),
          .init("quake-admin region check --quiet || alert", "for monitoring"),
        ],
        exitStatuses: [
          .init(.ok, "no warning and no problem"),
          .init(.failed, "there is a warning or a problem, or this database is no region"),
          .init(.usage), .init(.unavailable, "the region's database cannot be reached"),
          .init(.internal), .init(.schema, "the schema is missing, older, newer or modified"),
        ]),
      Command(
        "drop", purpose: "make this region an ordinary database, which keeps its events",
        discussion: """
          The command drops the subscription here, and the slot at the centre. Events, history and cursors stay; \
          afterwards imports and edits may write here.
          """,
        options: [
          centre, Consent.option,
          .flag(
            "centre-lost", help: "do not connect to the centre, which is gone or keeps its slot"),
        ],
        examples: [.init("quake-admin region drop --yes", "end the region without a question")]),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    Signals.install()
    if let named = arguments.string("centre"), named.contains("@") || named.contains("password") {
      ProcessArguments.hide(named)
    }
    return switch arguments.subcommand.last {
    case "create": try create(arguments, diagnostics)
    case "check": try check(arguments, diagnostics)
    default: try drop(arguments, diagnostics)
    }
  }

  // MARK: - create

  private static func create(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    guard let name = arguments.positional("NAME"), let conninfo = arguments.string("centre") else {
      throw arguments.usageError("--centre is needed: the URL of the centre's database")
    }
    guard name.wholeMatch(of: /[a-z][a-z0-9_]{0,39}/) != nil else {
      throw arguments.usageError(
        "'\(PrintableText.line(name))' is no name of a region: at most 40 lower-case letters, digits and underscores"
      )
    }
    let timeout = try arguments.duration("timeout", in: .zero...) ?? .seconds(3600)
    let connection = try DatabaseAccess(arguments, diagnostics).connectToStore(
      wake: Signals.wakeDescriptor)
    let centre = try connect(to: conninfo, diagnostics)
    let outcome = try RegionMaker(
      name, region: connection, centre: centre, conninfo: conninfo,
      copiesAnew: arguments.flag("anew")
    ).make()
    guard let region = try Region.own(of: connection) else {
      throw StoreError(.inconsistent, "region \"\(name)\" has vanished while it was made")
    }
    try RegionCopy(of: region, over: connection).wait(
      until: Deadline(after: timeout), wake: Signals.wakeDescriptor
    ) { ready, all in
      if ready < all { diagnostics.note("copied \(ready) of \(all) tables") }
    }
    let output = StandardOutput()
    try output.writeResult(
      outcome == .made
        ? "\(connection.label) is region \"\(name)\" of \(centre.label)"
        : "region \"\(name)\" is as it should be", diagnostics)
    try output.flush()
    if centre.serverVersion < 170_000 {
      diagnostics.note(
        """
        the centre's PostgreSQL has no failover slots: after a failover of the centre, run this command again with --anew
        """)
    }
    return .ok
  }

  /// Connects to the centre. A statement there may wait for the end of a transaction.
  private static func connect(
    to conninfo: String, _ diagnostics: Diagnostics
  ) throws -> Connection {
    let settings = ConnectionSettings(conninfo, applicationName: diagnostics.tool)
    try settings.check()
    let connection: Connection
    do throws(PostgresError) {
      connection = try Connection(settings, wake: Signals.wakeDescriptor)
    } catch {
      throw PostgresError(
        kind: error.kind, sqlState: error.sqlState, message: "centre: \(error.message)",
        detail: error.detail, hint: error.hint ?? "Check that the centre runs, and --centre.")
    }
    connection.answerTimeout = .seconds(300)
    return connection
  }

  // MARK: - check

  private static func check(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let connection = try DatabaseAccess(arguments, diagnostics).connectAsItIs()
    connection.answerTimeout = .seconds(60)
    try Migrator.checkSchema(of: connection)
    let region = try own(of: connection)
    let centre = Result {
      guard
        let conninfo = try arguments.string("centre") ?? region.conninfo(over: connection)
      else { throw StoreError(.conflict, "there is no subscription, which names the centre") }
      let centre = try connect(to: conninfo, diagnostics)
      centre.answerTimeout = .seconds(60)
      return centre
    }
    let lines = try RegionCheck(region, over: connection, centre: centre).lines()
    return try DoctorCommand.write(lines, isJSON: arguments.flag("json"), diagnostics)
  }

  private static func own(of connection: Connection) throws -> Region {
    if let region = try Region.own(of: connection) { return region }
    let regions = try Region.names(of: connection)
    throw StoreError(
      .conflict, "\(connection.label) is no region",
      detail: regions.isEmpty
        ? nil : "It is the centre of \(regions.joined(separator: ", ")).",
      hint: "Name the region's database in --database.")
  }

  // MARK: - drop

  private static func drop(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let consent = try Consent(arguments, diagnostics)
    let connection = try DatabaseAccess(arguments, diagnostics).connectToStore()
    let region = try own(of: connection)
    try Region.requireSuperuser(connection)
    guard
      consent.isGiven(
        "Make region \"\(region.name)\" (\(connection.label)) an ordinary database?")
    else { return .failed }
    var centre: Connection?
    if !arguments.flag("centre-lost"),
      let conninfo = try arguments.string("centre") ?? region.conninfo(over: connection)
    {
      do {
        centre = try connect(to: conninfo, diagnostics)
      } catch let error as PostgresError where error.kind == .connection {
        throw PostgresError(
          kind: error.kind, sqlState: error.sqlState, message: error.message, detail: error.detail,
          hint: "--centre-lost drops the subscription alone; the slot then stays at the centre.")
      }
    }
    if let centre, try region.isReadElsewhere(than: connection, at: centre) {
      throw region.isCopy(connection)
    }
    let removal = RegionRemoval(region, over: connection)
    let slots = try removal.slots()
    try removal.leave()
    let output = StandardOutput()
    try output.writeResult(
      "\(connection.label) is an ordinary database; its events and its history stay", diagnostics)
    try output.flush()
    if let centre {
      try removal.forget(at: centre, slots: slots)
    } else {
      diagnostics.warning(
        "the centre keeps the slot \(region.slot), and WAL for it",
        hint: """
          If the centre still runs, run there: select pg_drop_replication_slot('\(region.slot)'); delete from \
          quake.regional_database where name = '\(region.name)'.
          """)
    }
    return .ok
  }
}
