import CommandLine
import Postgres
import QuakeModel
import QuakeQuery
import QuakeSchema
import QuakeTool

/// `quake-admin associations`: which events of different sources are the same earthquake.
enum AssociationsCommand {
  static let table = Command(
    "associations", purpose: "associate events of different sources that are the same earthquake",
    discussion: """
      Lists, counts and exports show one event of an earthquake, the preferred one; the events of the \
      other sources are superseded by it. No row is merged, and the history records each change. Two \
      events of one source are never associated: the source identifies its events itself. \
      "associations list" shows the earthquakes that have several events.
      """,
    subcommands: [
      Command(
        "enable", purpose: "associate the events now, and then after each import and edit",
        discussion: """
          The command waits for the transactions that write events now. Only the owner of the tables can \
          enable associations.
          """,
        options: [author],
        examples: [.init("quake-admin associations enable", "begin to associate events")]),
      Command(
        "disable", purpose: "end all associations, and associate no more",
        discussion:
          "Lists show all events again. The command keeps the settings and the manual decisions.",
        options: [author],
        examples: [.init("quake-admin associations disable", "show all events again")]),
      Command(
        "run", purpose: "compare all events with those of other sources",
        discussion:
          "Run this command after you change the settings, and after changes that psql made.",
        options: [
          .flag("dry-run", help: "print what would be associated; change nothing"), json, author,
        ],
        examples: [
          .init("quake-admin associations run --dry-run", "see first what it would do"),
          .init("quake-admin associations run", "apply changed settings"),
        ]),
      Command(
        "list", purpose: "list the earthquakes that have events of several sources",
        options: [json],
        examples: [.init("quake-admin associations list --json", "one JSON object a line")]),
      Command(
        "show", purpose: "show the events of an earthquake and how far apart they are",
        options: [json], positionals: [id],
        examples: [.init("quake-admin associations show us7000pn9s", "the solutions of this event")]
      ),
      Command(
        "join", purpose: "decide that two events are the same earthquake",
        discussion: "The decision holds until it is forgotten, however far apart the events are.",
        options: [author], positionals: [id, other],
        examples: [
          .init("quake-admin associations join us7000pn9s emsc:20240424_0000089", "join two events")
        ]),
      Command(
        "split", purpose: "decide that two events are different earthquakes",
        discussion: "The decision holds until it is forgotten, however near the events are.",
        options: [author], positionals: [id, other],
        examples: [
          .init(
            "quake-admin associations split us7000pn9s emsc:20240424_0000089", "split two events")
        ]),
      Command(
        "forget", purpose: "clear a decision about two events, so that the windows decide",
        options: [author], positionals: [id, other],
        examples: [
          .init(
            "quake-admin associations forget us7000pn9s emsc:20240424_0000089",
            "decide it by the windows"
          )
        ]),
      Command(
        "dissolve", purpose: "decide that no two events of an earthquake belong together",
        options: [author], positionals: [id],
        examples: [
          .init("quake-admin associations dissolve us7000pn9s", "show all its events again")
        ]),
      Command(
        "prefer", purpose: "set or print which sources are preferred",
        discussion: """
          Of the events of an earthquake, the one whose source comes first in the list is shown. Other \
          sources come after those of the list: in the general order, then by name. If several regions \
          contain the epicentre, the smallest one applies. Without sources, this command prints the lists.
          """,
        options: [
          .value(
            "box", "W,S,E,N", help: "only for epicentres between these degrees; W may lie east of E"
          ),
          .flag("remove", help: "remove the list of this region"), json, author,
        ],
        positionals: [
          .init("SOURCE,...", .optional, help: "the sources, the most preferred first")
        ],
        examples: [
          .init("quake-admin associations prefer usgs,emsc", "the general order"),
          .init("quake-admin associations prefer emsc --box -12,34,45,72", "Europe"),
        ]),
      Command(
        "settings", purpose: "set or print how near events must be",
        discussion: """
          A window is the largest difference between two events of one earthquake. "associations run" \
          also compares the events that are associated already.
          """,
        options: [
          .value("time", "DURATION", help: "between the origin times, 1ms to 10m (default: 16s)"),
          .value(
            "distance", "KM", help: "between the epicentres, 0.001 to 2000 (default: 100)"),
          .value("magnitude", "M", help: "between the magnitudes, 0.001 to 22 (default: 1.5)"),
          .value(
            "loose", "FACTOR",
            help: """
              the windows of time and distance are this much wider if a solution is automatic or at \
              least 70 km deep, 1 to 10 (default: 1.5)
              """),
          json,
        ],
        examples: [
          .init("quake-admin associations settings --time 30s --distance 150", "wider windows")
        ]),
    ])

  private static let id = Positional("ID", help: "an event, by any of its ids")
  private static let other = Positional("OTHER", help: "the other event")
  private static let json = Option.flag("json", help: "one JSON object a line")
  private static let author = Option.value(
    "author", "NAME", default: "quake-admin", help: "author of the changes, in the history")

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let action = arguments.subcommand.last ?? ""
    let author =
      (arguments.takes("author") ? arguments.string("author") : nil) ?? diagnostics.tool
    guard author.unicodeScalars.count <= 200 else {
      throw arguments.invalidValue(
        String(author.prefix(40)) + "…", for: "author", expected: "at most 200 characters")
    }
    if action == "prefer" { return try AssociationOptions.prefer(arguments, diagnostics) }
    if action == "settings" { return try AssociationOptions.settings(arguments, diagnostics) }
    let signals = ["enable", "disable", "run"].contains(action)
    if signals { Signals.install() }
    let connection = try DatabaseAccess(arguments, diagnostics)
      .connectToStore(
        answerTimeout: .seconds(3600), wake: signals ? Signals.wakeDescriptor : nil)
    let associations = Associations(connection: connection, author: author)
    let output = AssociationOutput(isJSON: arguments.takes("json") && arguments.flag("json"))
    switch action {
    case "enable":
      try AssociationTriggers.enable(over: connection)
      try associations.noteAll()
      diagnostics.note("associations are enabled")
      return try update(associations, output, diagnostics)
    case "disable":
      // The step that may fail because of a privilege or a lock is first: nothing has changed then.
      try AssociationTriggers.disable(over: connection)
      try associations.dissolveAll()
      diagnostics.note("associations are disabled, and all events are shown")
    case "run":
      if arguments.flag("dry-run") {
        let (outcome, earthquakes) = try associations.trial()
        try output.write(outcome, earthquakes)
      } else {
        try associations.noteAll()
        return try update(associations, output, diagnostics)
      }
    case "list": try output.write(AssociatedEarthquake.list(over: connection))
    case "show":
      let event = arguments.positionals[0]
      guard let earthquake = try associations.earthquake(of: event) else {
        return sayAlone(event, diagnostics)
      }
      try output.show(earthquake)
    default: return try decide(action, arguments.positionals, associations, diagnostics)
    }
    return .ok
  }

  /// Makes or clears the decision of a user about events.
  private static func decide(
    _ action: String, _ ids: [String], _ associations: Associations, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let event = ids[0]
    guard let second = ids.dropFirst().first else {
      let events = try associations.dissolve(event)
      guard !events.isEmpty else { return sayAlone(event, diagnostics) }
      diagnostics.note("split \(events.map { "\"\($0)\"" }.joined(separator: ", "))")
      return .ok
    }
    switch action {
    case "join":
      try associations.join(event, second)
      diagnostics.note("joined \"\(event)\" and \"\(second)\"")
    case "split":
      try associations.split(event, second)
      diagnostics.note("split \"\(event)\" and \"\(second)\"")
    default:
      guard try associations.forget(event, second) else {
        diagnostics.note("there is no decision about \"\(event)\" and \"\(second)\"")
        return .failed
      }
      diagnostics.note("cleared the decision about \"\(event)\" and \"\(second)\"")
    }
    return .ok
  }

  private static func sayAlone(_ event: String, _ diagnostics: Diagnostics) -> ExitStatus {
    diagnostics.note("no other source has an event that is associated with \"\(event)\"")
    return .failed
  }

  private static func update(
    _ associations: Associations, _ output: AssociationOutput, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let outcome = try associations.update(shouldStop: { Signals.stopRequested })
    if output.isJSON || diagnostics.verbosity > .quiet { try output.write(outcome) }
    if Signals.stopRequested {
      diagnostics.note("stopped; the next import or \"quake-admin associations run\" does the rest")
    }
    return .ok
  }
}
