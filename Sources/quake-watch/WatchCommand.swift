import CommandLine
import QuakeModel
import QuakeStore
import QuakeTool

/// `quake-watch`: its options, and what they mean.
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
      .value("limit", "N", help: "end after N changes"),
      .toggle("follow", initially: true, help: "end when everything there is has been printed"),
      .value("min-magnitude", "M", help: "events of at least this magnitude"),
      .value(
        "op", "OP,...", repeatable: true, help: "only insert, update, delete, truncate"),
      .value(
        "type", "TYPE,...", repeatable: true, help: "events of these types, such as earthquake"),
      .value("bbox", "W,S,E,N", help: "epicentres between these degrees; W may lie east of E"),
      .value(
        "within", "KM:LAT,LON", help: "epicentres at most KM kilometres from a place"),
      .value("author", "AUTHOR", repeatable: true, help: "changes by this author"),
      .value("not-author", "AUTHOR", repeatable: true, help: "changes not by this author"),
      .value(
        "changed", "COLUMN,...", repeatable: true,
        help: "updates of at least one of these columns, such as magnitude,place"),
      .flag("json", help: "one JSON object a line"),
    ] + ExecOptions.table + Tool.commonOptions,
    examples: [
      .init("quake-watch --min-magnitude 4.5", "follow the larger earthquakes"),
      .init(
        "quake-watch --json --state cursor --from-start | my-consumer",
        "feed a program, resuming where it stopped"),
      .init(
        "quake-watch --min-magnitude 6 --op insert --exec 'mail -s \"M $QUAKE_MAGNITUDE\" me'",
        "send a mail about each large earthquake"),
    ],
    environment: DatabaseAccess.environment + CommandVariables.help, exitStatuses: Tool.exitStatuses
  )

  private let watcher: Watcher
  private let commands: (any CommandHandler)?
  private let keepsPlace: Bool
  private let diagnostics: Diagnostics

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    try arguments.requireAtMostOne(of: "after", "from-start", "snapshot")
    try arguments.requireAtMostOne(of: "state", "name")
    let output = StandardOutput()
    let commands = try ExecOptions(arguments)?.handler(diagnostics)
    let printer: any ChangeHandler =
      arguments.flag("json")
      ? JSONPrinter(output: output)
      : TextPrinter(
        output: output,
        colour: Colour(
          for: output.descriptor, noColor: Environment.value("NO_COLOR"),
          term: Environment.value("TERM")))
    let delivery = Delivery(
      settings: Delivery.Settings(
        start: try Self.start(arguments), filter: try Self.filter(arguments),
        limit: try arguments.integer("limit", in: 1...).map { Int64($0) },
        heartbeat: try arguments.duration("heartbeat", in: .milliseconds(100)...),
        resetsToSnapshot: try arguments.choice("on-expired", of: ["stop", "snapshot"])
          == "snapshot"),
      bookmark: try Self.bookmark(arguments), handler: commands ?? printer)
    let watcher = Watcher(
      database: try DatabaseAccess(arguments, diagnostics), diagnostics: diagnostics,
      delivery: delivery, follows: arguments.flag("follow"))
    output.onStall = { [unowned watcher] in watcher.outputStalls() }
    commands?.onStall = output.onStall
    self.watcher = watcher
    self.commands = commands
    keepsPlace = arguments.isGiven("state") || arguments.isGiven("name")
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
    if let error = stop.placeError {
      diagnostics.warning(
        "the place could not be kept: \(Failure(error)?.message ?? "\(error)")",
        hint: "The next watch will hand over some changes again.")
    }
    guard let failure = stop.failure else { return .ok }
    diagnostics.error(
      failure.message,
      hint: keepsPlace
        ? "The next watch begins with it. To pass over what fails: --exec-failure skip."
        : "Nothing keeps the place for the next watch: --state FILE or --name NAME would.")
    return .failed
  }

  private static func start(_ arguments: ParsedArguments) throws -> Delivery.Start {
    if arguments.flag("snapshot") { return .snapshot }
    if arguments.flag("from-start") { return .after(.beginning) }
    guard let text = arguments.string("after") else { return .now }
    guard let token = ChangeToken(text) else {
      throw StoreError(
        .token(.malformed), "malformed token \"\(text)\"",
        hint: """
          A token is a number, a dot and 8 hexadecimal digits, such as 1042.9f3ac2d1; 0 stands \
          for the beginning.
          """)
    }
    return .after(token)
  }

  private static func bookmark(_ arguments: ParsedArguments) throws -> Bookmark {
    if let path = arguments.string("state") { return .file(StateFile(path)) }
    guard let name = arguments.string("name") else { return .none }
    guard (1...200).contains(name.unicodeScalars.count) else {
      throw arguments.invalidValue(name, for: "name", expected: "1 to 200 characters")
    }
    return .cursor(DurableCursor(name: name))
  }

  private static func filter(_ arguments: ParsedArguments) throws -> QuakeFilter {
    var filter = QuakeFilter()
    filter.minimumMagnitude = try arguments.double("min-magnitude")
    if arguments.isGiven("op") {
      let words = try arguments.list("op", of: ChangeOperation.allCases.map(\.rawValue))
      filter.operations = Set(words.compactMap { ChangeOperation(rawValue: $0) })
    }
    if arguments.isGiven("type") { filter.types = Set(try arguments.list("type")) }
    if let edges = try arguments.doubles("bbox", count: 4) {
      guard
        let box = QuakeFilter.BoundingBox(
          west: edges[0], south: edges[1], east: edges[2], north: edges[3])
      else {
        throw arguments.invalidValue(
          arguments.string("bbox") ?? "", for: "bbox",
          expected: "west,south,east,north in degrees, south no further north than north")
      }
      filter.boundingBox = box
    }
    if let text = arguments.string("within") {
      guard let circle = circle(text) else {
        throw arguments.invalidValue(
          text, for: "within", expected: "kilometres:latitude,longitude, such as 100:35.7,-117.5")
      }
      filter.circle = circle
    }
    if arguments.isGiven("author") { filter.authors = Set(arguments.strings("author")) }
    filter.excludedAuthors = Set(arguments.strings("not-author"))
    if arguments.isGiven("changed") {
      filter.changedColumns = Set(
        try arguments.list("changed", of: QuakeColumn.allCases.map(\.name)))
    }
    return filter
  }

  private static func circle(_ text: String) -> QuakeFilter.Circle? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let radius = Double(parts[0]) else { return nil }
    let place = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    guard place.count == 2, let latitude = Double(place[0]), let longitude = Double(place[1])
    else { return nil }
    return QuakeFilter.Circle(radius: radius, latitude: latitude, longitude: longitude)
  }
}
