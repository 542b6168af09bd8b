import CommandLine
import Postgres
import QuakeClient
import QuakeHistory
import QuakeModel
import QuakeSinks
import QuakeTool

/// `quake-watch`: its options and their meaning.
struct WatchCommand {
  static let table = Command(
    "quake-watch",
    purpose: "print each change to the earthquakes in the database as it is committed",
    discussion: """
      This command follows the history from now on, or from the point that an option names. It prints \
      every committed change once, in commit order. After a lost connection it reconnects and catches \
      up.

      Without --json and --exec, this command omits an update that changed only columns that people seldom \
      read: updated, as_of, first_stored, url, detail, ids, sources, types, net_code. It also omits an \
      update that a person would not notice: depth or epicentre by less than about 0.1 km, origin time by less \
      than 0.05 s, magnitude, intensities or quality figures by less than about 0.01. --verbose prints them.

      With --exec or --exec-batch it prints nothing: it runs a command, and a change is handled when its \
      command has exited with status 0. The values in a command's environment come from feeds and \
      writers: put them in double quotes, and never pass them to anything that parses them as code.

      "quake-watch run" delivers changes and alerts to the webhooks, brokers and commands of a configuration file, and \
      "quake-watch rehearse" tries that file on the past. "quake-watch run --help" and "quake-watch rehearse --help" \
      say how.
      """,
    version: productVersion,
    options: [
      .value("after", "TOKEN", help: "begin after this token, such as 1042.9f3ac2d1"),
      .value("since", "TIME", help: "begin after the transactions committed by then"),
      .flag(
        "from-start",
        help: "begin with the first change ever, which is an error if the history was purged"),
      .flag("from-oldest", help: "begin with the oldest change that is still held"),
      .flag("snapshot", help: "print the present list of events first, then the changes to it"),
      .value(
        "state", "FILE", completion: .files,
        help: """
          keep the cursor in FILE; if FILE exists, resume from it. With --name: the file of the witness, by default one \
          in $STATE_DIRECTORY, $XDG_STATE_HOME/quake or ~/.local/state/quake
          """),
      .value(
        "name", "NAME", completion: .found(stored: "watchers"),
        help: """
          keep the cursor in the database under NAME, and in a file beside it, the witness, which notices when a restore \
          or a failover has lost transactions that were delivered; if it exists, resume from it. With --url: in the \
          witness alone
          """),
      .toggle("witness", initially: true, help: "with --name: keep no witness"),
      .value(
        "on-expired", "ACTION", default: "stop", completion: .words(["stop", "snapshot"]),
        help: """
          what to do if the token to begin after has expired or is not in this history: stop, or snapshot \
          (print the list of events anew and follow from there)
          """),
      .value("heartbeat", "DURATION", help: "print a line with the current token at this interval"),
      .value(
        "up-to", "TOKEN|NUMBER|TIME",
        help: "end after this transaction, or after the last one that is committed by this time"),
      .value("until", "TIME", help: "the same as --up-to TIME"),
      .limit(help: "end after N changes"),
      .value(
        "limit-rate", "N/UNIT",
        help: """
          deliver N changes at once and N in each hour (10/h; s, m, h or d), drop the others, and report \
          how many
          """),
      .flag("refresh", help: "make the workers poll their feeds at the start"),
      .toggle("follow", initially: true, help: "end at the end of the history"),
    ] + FilterOptions.events + FilterOptions.changes + [
      .flag("json", help: "one JSON object a line"),
      .flag("utc", help: "exact origin times in UTC, on a terminal too"),
    ] + ExecOptions.table + ServerOptions.table + Tool.commonOptions,
    examples: [
      .init("quake-watch --min-magnitude 4.5", "follow the larger earthquakes"),
      .init(
        "quake-watch --json --state cursor --from-start | my-consumer",
        "feed a program, resuming where it stopped"),
      .init(
        "quake-watch --min-magnitude 6 --enters --newer-than 1h --exec ./alert",
        "run a command when an earthquake of the past hour is found to be large"),
      .init(
        "quake-watch --url http://quakes.example.org:8080 --state cursor",
        "follow a quake-serve instead of a database"),
    ],
    environment: DatabaseAccess.environment + CommandVariables.help,
    exitStatuses: (Tool.exitStatuses + [
      .init(.outputClosed, "the reader of the output has ended; 0 with --no-follow")
    ]).sorted { $0.status.rawValue < $1.status.rawValue })

  private let watcher: any Watcher
  /// Takes the watcher's place if the server tells of earthquakes.
  private let alertWatcher: () throws -> AlertWatcher
  private let commands: (any CommandHandler)?
  private let gate: RateGate?
  private let storesCursor: Bool
  private let follows: Bool
  private let diagnostics: Diagnostics

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    if arguments.flag("utc") { MomentText.useUTC() }
    try arguments.requireAtMostOne(of: "after", "since", "from-start", "from-oldest", "snapshot")
    let witness = try Self.witnessPlace(arguments)
    if arguments.flag("refresh"), !arguments.flag("follow") {
      throw arguments.usageError(
        "option --refresh excludes --no-follow; quake-admin refresh waits for the result")
    }
    let output = StandardOutput()
    let commands = try ExecOptions(arguments)?.handler(diagnostics)
    let filter = try FilterOptions.filter(arguments)
    let gate = try arguments.rateLimit().map { RateGate($0, diagnostics: diagnostics) }
    let settings = Delivery.Settings(
      start: try Self.start(arguments), filter: filter,
      limit: try arguments.integer("limit", in: 1...).map { Int64($0) },
      end: try Self.end(arguments),
      heartbeat: try arguments.duration("heartbeat", in: .milliseconds(100)...),
      resetsToSnapshot: try arguments.choice("on-expired", of: ["stop", "snapshot"])
        == "snapshot",
      gate: gate)
    let handler = commands ?? Self.printer(arguments, output)
    let watcher: any Watcher
    let server = try ServerOptions.follower(arguments, filter)
    if let server {
      watcher = ServerWatcher(
        diagnostics: diagnostics, follower: server,
        delivery: Delivery(
          settings: settings,
          cursorStore: try Self.cursorStore(arguments) { name in
            try ServerCursor(name, of: server, witness: witness, diagnostics)
          },
          handler: handler, source: server),
        follows: arguments.flag("follow"))
    } else {
      let database = try DatabaseAccess(arguments, diagnostics, reconnects: true)
      let source = DatabaseSource(
        HistoryFollower { () throws(PostgresError) in
          try Connection(database.settings, wake: Signals.wakeDescriptor)
        })
      watcher = DatabaseWatcher(
        database: database, diagnostics: diagnostics, source: source,
        delivery: Delivery(
          settings: settings,
          cursorStore: try Self.cursorStore(arguments) { name in
            NamedCursor(name, in: source, witness: witness, diagnostics)
          },
          handler: handler, source: source),
        follows: arguments.flag("follow"), refreshes: arguments.flag("refresh"))
    }
    output.onStall = { [unowned watcher] in watcher.pauseWhileOutputStalls() }
    commands?.wait.onStall = output.onStall
    self.watcher = watcher
    alertWatcher = { try AlertWatcher(server, arguments, output, diagnostics) }
    self.commands = commands
    self.gate = gate
    follows = arguments.flag("follow")
    storesCursor = arguments.isGiven("state") || arguments.isGiven("name")
    self.diagnostics = diagnostics
  }

  func run() throws -> ExitStatus {
    Signals.install()
    defer {
      gate?.report()
      commands?.end()
    }
    do {
      do {
        try watcher.run()
      } catch is ServerCursor.IsOfAlerts {
        try alertWatcher().run()
      }
      return .ok
    } catch let stop as HandOverStopped {
      return end(stop)
    } catch OutputError.closed where follows {
      // Quietly, because a person may have ended the reader, as "head" does; but a service manager is to start
      // both again.
      diagnostics.verbose("the reader of the output has ended")
      return .outputClosed
    }
  }

  private func end(_ stop: HandOverStopped) -> ExitStatus {
    if let error = stop.cursorError {
      diagnostics.warning(
        "could not store the cursor: \(Failure(error)?.message ?? "\(error)")",
        hint: "The next start will repeat some changes.")
    }
    guard let failure = stop.failure else { return .ok }
    diagnostics.error(
      failure.message,
      hint: storesCursor
        ? "The next start tries it again. To skip failed commands, use --exec-failure skip."
        : "The next start cannot resume here: that needs --state FILE or --name NAME.")
    return .failed
  }

  private static func printer(
    _ arguments: ParsedArguments, _ output: StandardOutput
  ) -> any ChangeHandler {
    arguments.flag("json")
      ? JSONPrinter(output: output)
      : TextPrinter(
        output: output, isRelative: !arguments.flag("utc"),
        // A filter on a column asks for exactly these changes.
        showsBookkeeping: arguments.flag("verbose") || arguments.isGiven("changed"))
  }

  private static func end(_ arguments: ParsedArguments) throws -> HistoryBound? {
    try arguments.requireAtMostOne(of: "up-to", "until")
    return try arguments.bound("up-to")
      ?? arguments.time("until").map { .time($0) }
  }

  private static func start(_ arguments: ParsedArguments) throws -> Delivery.Start {
    if arguments.flag("snapshot") { return .snapshot }
    if arguments.flag("from-start") { return .after(.beginning) }
    if arguments.flag("from-oldest") { return .oldest }
    if let time = try arguments.time("since") { return .since(time) }
    return try arguments.token("after").map { .after($0) } ?? .now
  }

  /// Where the cursor is stored.
  ///
  /// - Parameter named: Makes the cursor for a name.
  private static func cursorStore(
    _ arguments: ParsedArguments, named: (_ name: String) throws -> any CursorStore
  ) throws -> any CursorStore {
    guard let name = arguments.string("name") else {
      if let path = arguments.string("state") { return StateFile(path) }
      return NoCursor()
    }
    guard (1...200).contains(name.unicodeScalars.count) else {
      throw arguments.invalidValue(name, for: "name", expected: "1 to 200 characters")
    }
    return try named(name)
  }

  private static func witnessPlace(_ arguments: ParsedArguments) throws -> WitnessPlace {
    guard arguments.flag("witness") else {
      guard arguments.isGiven("name") else {
        throw arguments.usageError("option --no-witness is for --name")
      }
      guard !arguments.isGiven("state") else {
        throw arguments.contradiction(
          "with --name, option --state names the file of the witness: it excludes --no-witness")
      }
      return .none
    }
    return arguments.string("state").map { .file($0) } ?? .stateFolder
  }
}

/// Tells a person once that the watch has begun, because it may print nothing for long.
struct WatchAnnouncement {
  private var isMade = false

  /// To be called when everything up to a cursor has been handed over.
  mutating func tell(_ cursor: HistoryCursor?, _ diagnostics: Diagnostics) {
    guard !isMade, let cursor else { return }
    isMade = true
    diagnostics.note("watching after \(cursor.token); Ctrl-C ends")
  }
}

/// Follows a source of changes until the watch is complete.
protocol Watcher: AnyObject {
  /// Watches until it is stopped, or the watch is complete.
  func run() throws
  /// To be called when the output has not moved for a while: the server must not wait for this process.
  func pauseWhileOutputStalls()
}
