import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-watch`: its options and their meaning.
struct WatchCommand {
  static let table = Command(
    "quake-watch",
    purpose: "print each change to the earthquakes in the database as it is committed",
    discussion: """
      Follows the history from now on, or from where it is told to, and prints every committed \
      change once, in commit order. Reconnects by itself and catches up.

      With --exec or --exec-batch nothing is printed: a change has been handed over when its \
      command has exited with status 0. The values in a command's environment come from feeds and \
      writers: put them in double quotes, and nowhere that they would be read as code.
      """,
    version: productVersion,
    options: [
      .value("after", "TOKEN", help: "begin after this token, such as 1042.9f3ac2d1"),
      .value("since", "TIME", help: "begin after what was committed by then"),
      .flag("from-start", help: "begin with the first change there ever was"),
      .flag("snapshot", help: "print the list of events first, then the changes to it"),
      .value(
        "state", "FILE", completion: .files,
        help: "keep the last token handed over in FILE, and resume from it if it is there"),
      .value(
        "name", "NAME",
        help: "keep the last token in the database under NAME, and resume from it if it is there"),
      .value(
        "on-expired", "ACTION", default: "stop", completion: .words(["stop", "snapshot"]),
        help: "what to do when the history cannot be followed from the last token: stop or snapshot"
      ),
      .value("heartbeat", "DURATION", help: "say this often how far the watch has come"),
      .value("up-to", "TOKEN", help: "end when this transaction has been printed"),
      .value("limit", "N", help: "end after N changes"),
      .flag("refresh", help: "have the workers poll their feeds at once, to begin with"),
      .toggle("follow", initially: true, help: "end when everything there is has been printed"),
    ] + FilterOptions.events + FilterOptions.changes + [
      .flag("json", help: "one JSON object a line")
    ] + ExecOptions.table + Tool.commonOptions,
    examples: [
      .init("quake-watch --min-magnitude 4.5", "follow the larger earthquakes"),
      .init(
        "quake-watch --json --state cursor --from-start | my-consumer",
        "feed a program, resuming where it stopped"),
      .init(
        "quake-watch --min-magnitude 6 --exec 'mail -s \"M $QUAKE_MAGNITUDE\" me'",
        "send a mail about each change of a large earthquake"),
    ],
    environment: DatabaseAccess.environment + CommandVariables.help, exitStatuses: Tool.exitStatuses
  )

  private let watcher: Watcher
  private let commands: (any CommandHandler)?
  private let storesCursor: Bool
  private let diagnostics: Diagnostics

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    try arguments.requireAtMostOne(of: "after", "since", "from-start", "snapshot")
    try arguments.requireAtMostOne(of: "state", "name")
    if arguments.flag("refresh"), !arguments.flag("follow") {
      throw arguments.usageError(
        "option --refresh is for a watch that goes on; quake-admin refresh waits for the result")
    }
    let output = StandardOutput()
    let commands = try ExecOptions(arguments)?.handler(diagnostics)
    let printer: any ChangeHandler =
      arguments.flag("json")
      ? JSONPrinter(output: output)
      : TextPrinter(output: output)
    let settings = Delivery.Settings(
      start: try Self.start(arguments), filter: try FilterOptions.filter(arguments),
      limit: try arguments.integer("limit", in: 1...).map { Int64($0) },
      upTo: try arguments.token("up-to"),
      heartbeat: try arguments.duration("heartbeat", in: .milliseconds(100)...),
      resetsToSnapshot: try arguments.choice("on-expired", of: ["stop", "snapshot"])
        == "snapshot")
    let cursorStore = try Self.cursorStore(arguments)
    let database = try DatabaseAccess(arguments, diagnostics)
    let follower = HistoryFollower { () throws(PostgresError) in
      try Connection(database.settings, wake: Signals.wakeDescriptor)
    }
    let watcher = Watcher(
      database: database, diagnostics: diagnostics, follower: follower,
      delivery: Delivery(
        settings: settings, cursorStore: cursorStore, handler: commands ?? printer,
        follower: follower),
      follows: arguments.flag("follow"), refreshes: arguments.flag("refresh"))
    output.onStall = { [unowned watcher] in watcher.pauseWhileOutputStalls() }
    commands?.onStall = output.onStall
    self.watcher = watcher
    self.commands = commands
    storesCursor = arguments.isGiven("state") || arguments.isGiven("name")
    self.diagnostics = diagnostics
  }

  func run() throws -> ExitStatus {
    Signals.install()
    defer { commands?.end() }
    do {
      try watcher.run()
      return .ok
    } catch let stop as HandOverStopped {
      return end(stop)
    }
  }

  private func end(_ stop: HandOverStopped) -> ExitStatus {
    if let error = stop.cursorError {
      diagnostics.warning(
        "could not store the cursor: \(Failure(error)?.message ?? "\(error)")",
        hint: "The next watch will repeat some changes.")
    }
    guard let failure = stop.failure else { return .ok }
    diagnostics.error(
      failure.message,
      hint: storesCursor
        ? "The next watch begins with it. To pass over what fails: --exec-failure skip."
        : "Nothing keeps the place for the next watch: --state FILE or --name NAME would.")
    return .failed
  }

  private static func start(_ arguments: ParsedArguments) throws -> Delivery.Start {
    if arguments.flag("snapshot") { return .snapshot }
    if arguments.flag("from-start") { return .after(.beginning) }
    if let time = try arguments.time("since") { return .since(time) }
    return try arguments.token("after").map { .after($0) } ?? .now
  }

  private static func cursorStore(_ arguments: ParsedArguments) throws -> CursorStore {
    if let path = arguments.string("state") { return .file(StateFile(path)) }
    guard let name = arguments.string("name") else { return .none }
    guard (1...200).contains(name.unicodeScalars.count) else {
      throw arguments.invalidValue(name, for: "name", expected: "1 to 200 characters")
    }
    return .database(DurableCursor(name: name))
  }
}
