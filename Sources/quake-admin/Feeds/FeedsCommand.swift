import CommandLine
import Postgres
import QuakeModel
import QuakeTool
import QuakeWorker

/// `quake-admin feeds`: shows, pauses, resets and forgets the feeds that workers poll.
enum FeedsCommand {
  static let table = Command(
    "feeds", purpose: "list, pause, resume, reset or forget the feeds that workers poll",
    discussion: """
      A feed is known as soon as a worker (quake-ingest run) polls it. All workers of the database obey \
      these commands within seconds, also on other machines.
      """,
    subcommands: [
      Command(
        "list", purpose: "list the feeds and their state",
        options: [.flag("json", help: "one JSON object a line")]),
      Command(
        "show", purpose: "print all that is stored of feeds",
        options: [.flag("json", help: "one JSON object a line")], positionals: [name]),
      Command(
        "pause", purpose: "stop polling feeds until they are resumed",
        discussion: """
          The pause is stored in the database, so that it outlasts the workers. A download in progress is \
          cancelled, and an import in progress is finished. While a feed is paused "quake-admin status" \
          does not judge it.
          """, positionals: [name]),
      Command("resume", purpose: "poll paused feeds again", positionals: [name]),
      Command(
        "reset", purpose: "make the next poll read all of a feed",
        discussion: """
          The command forgets the validators (ETag, Last-Modified), and the snapshots that lacked an event. \
          An event that is withdrawn stays withdrawn until a snapshot holds it.
          """, positionals: [name]),
      Command(
        "forget", purpose: "remove the state of feeds that are no longer polled",
        discussion: """
          Imports and events stay. On a terminal the command asks first; elsewhere it needs --yes. It fails \
          while a worker polls the feed, or waits to.
          """, options: [Consent.option], positionals: [name]),
    ],
    examples: [
      .init("quake-admin feeds list", "the feeds with their state"),
      .init("quake-admin feeds pause all_hour", "do not poll it until it is resumed"),
      .init("quake-admin feeds forget all_week --yes", "forget a feed that is no longer polled"),
    ])

  private static let name = Positional(
    "NAME", .oneOrMore, completion: .found(stored: "feeds"),
    help: "short name of a feed")

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let action = arguments.subcommand.last
    let consent = action == "forget" ? try Consent(arguments, diagnostics) : nil
    let connection = try DatabaseAccess(arguments, diagnostics)
      .connectToStore(answerTimeout: .seconds(60))
    if action == "list" {
      try FeedsOutput.write(
        try StoreStatus.feeds(connection), over: connection, isJSON: arguments.flag("json"))
      return .ok
    }
    var names: [String] = []
    for name in arguments.positionals where !names.contains(name) { names.append(name) }
    try refuseUnknown(names, over: connection)
    switch action {
    case "show":
      try FeedsOutput.writeDetails(of: names, over: connection, isJSON: arguments.flag("json"))
    case "pause":
      try change(names, over: connection) { try pause($0, over: connection) }.forEach {
        diagnostics.note($0)
      }
    case "resume":
      try change(names, over: connection) { name in
        try FeedControl.resume(name, over: connection).map { wasPaused in
          wasPaused ? "resumed feed \(name)" : "feed \(name) is not paused"
        }
      }.forEach { diagnostics.note($0) }
    case "reset":
      try change(names, over: connection) { name in
        try FeedControl.reset(name, over: connection).map { _ in
          "reset feed \(name): its next poll reads all of it"
        }
      }.forEach { diagnostics.note($0) }
    default:
      let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
      let feeds = names.count == 1 ? "feed" : "feeds"
      guard consent?.isGiven("Forget \(feeds) \(list)?") == true else { return .failed }
      try change(names, over: connection) { name in
        try FeedControl.forget(name, over: connection) ? "forgot feed \(name)" : nil
      }.forEach { diagnostics.note($0) }
    }
    return .ok
  }

  /// Changes all feeds or none, in an order that two commands share: neither waits for the other for ever.
  ///
  /// - Parameter body: Changes one, and returns a message about it; nil if there is none of that name.
  private static func change(
    _ names: [String], over connection: Connection, _ body: (String) throws -> String?
  ) throws -> [String] {
    try connection.transaction {
      try names.sorted().map { name in
        guard let message = try body(name) else { throw unknown(name, among: []) }
        return PrintableText.line(message)
      }
    }
  }

  private static func pause(_ name: String, over connection: Connection) throws -> String? {
    guard let outcome = try FeedControl.pause(name, over: connection) else { return nil }
    return outcome.isNew
      ? "paused feed \(name); \"quake-admin feeds resume \(name)\" resumes it"
      : "feed \(name) is already \(outcome.pause.text)"
  }

  private static func refuseUnknown(_ names: [String], over connection: Connection) throws {
    let known = try FeedControl.names(over: connection)
    for name in names where !known.contains(name) {
      throw try FeedControl.refusalOfRegion(over: connection) ?? unknown(name, among: known)
    }
  }

  private static func unknown(_ name: String, among known: [String]) -> StoreError {
    let near = Suggestion.nearest(to: name, among: known).map { "Did you mean \"\($0)\"? " } ?? ""
    return StoreError(
      .unknownFeed, "there is no feed \"\(PrintableText.line(name))\"",
      hint: "\(near)\"quake-admin feeds list\" lists the feeds.")
  }
}
