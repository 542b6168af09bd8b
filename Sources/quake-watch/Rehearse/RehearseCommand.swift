import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-watch rehearse`: what consumers would have been told.
struct RehearseCommand {
  static let table = Command(
    "rehearse", purpose: "say what the consumers of a configuration file would have been told",
    discussion: """
      This command applies what each consumer wants to the recorded changes at their own times, and counts the messages: \
      how many a day, how late after the origin time, how many an earthquake, and how many earthquakes were retracted or \
      revised below the threshold later. It delivers nothing and changes nothing. limit-rate does not count.

      The same history and the same times give the same result. If the history does not reach so far back, it \
      begins where that does.
      """,
    options: [
      .value(
        "last", "DURATION", help: "the changes of the last DURATION, such as 365d; by default 30d"),
      .value("from", "TIME", help: "the changes committed at or after this time"),
      .value("to", "TIME", help: "the changes committed by this time; by default now"),
      .flag("json", help: "one JSON object for each consumer instead of text"),
      CommandConfiguration.option,
    ],
    examples: [
      .init(
        "quake-watch rehearse --config consumers.conf --last 365d",
        "try the rules on the past year"),
      .init(
        "quake-watch rehearse --config consumers.conf --from 2026-01-01 --to 2026-02-01 --json",
        "for a program"),
    ])

  private let configurations: [ConsumerConfiguration]
  private let from: Timestamp
  private let to: Timestamp
  private let writesJSON: Bool
  private let database: DatabaseAccess

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    configurations = try ConsumerConfiguration.read(arguments)
    try arguments.requireAtMostOne(of: "last", "from")
    try arguments.requireAtMostOne(of: "last", "to")
    to = try arguments.time("to") ?? .now()
    let last = try arguments.age("last", in: .milliseconds(1)...) ?? .seconds(30 * 86_400)
    from = try arguments.time("from") ?? to.earlier(by: last)
    guard from < to else {
      throw arguments.contradiction(
        "\(arguments.subject("from")) is not before \(arguments.isGiven("to") ? arguments.spelled("to") : "now")"
      )
    }
    writesJSON = arguments.flag("json")
    database = try DatabaseAccess(arguments, diagnostics)
  }

  func run() throws -> ExitStatus {
    Signals.install()
    let connection = try database.connectToStore(wake: Signals.wakeDescriptor)
    let begin = min(to, max(from, try HistoryBound.firstCommit(over: connection) ?? from))
    // The conversations that were open at the beginning began earlier.
    let longest = configurations.compactMap { $0.rule?.closesAfter }.max() ?? .zero
    let first = try Self.token(at: begin.earlier(by: longest), over: connection)
    let last = try HistoryBound.time(to).resolve(over: connection)
    // The reader has a page under way while the books look at single events.
    let lookups = try database.open(wake: Signals.wakeDescriptor)
    var rehearsals = configurations.map {
      Rehearsal(
        $0, from: begin, to: to, after: first, events: RecordedEvents(connection: lookups))
    }
    try Self.read(over: connection, after: first, upTo: last, into: &rehearsals)
    let output = StandardOutput()
    for index in rehearsals.indices {
      try rehearsals[index].end()
      let report = rehearsals[index].report
      try output.write(writesJSON ? report.json + "\n" : report.text + "\n")
    }
    try output.flush()
    return .ok
  }

  /// The last transaction by a time; where the history begins, if that is later.
  private static func token(at time: Timestamp, over connection: Connection) throws -> ChangeToken {
    do {
      return try HistoryBound.time(time).resolve(over: connection)
    } catch let error as StoreError where error.kind == .token(.expired) {
      return try HistoryBound.oldest.resolve(over: connection)
    }
  }

  private struct Reached: Error {}

  private static func read(
    over connection: Connection, after first: ChangeToken, upTo last: ChangeToken,
    into rehearsals: inout [Rehearsal]
  ) throws {
    guard first.number < last.number else { return }
    var reader = try HistoryReader(connection: connection, after: first)
    do {
      while !Signals.stopRequested {
        let isAtEnd = try reader.readPage { change in
          guard change.transaction.token.number <= last.number else { throw Reached() }
          for index in rehearsals.indices { try rehearsals[index].take(change) }
        }
        if isAtEnd { break }
      }
    } catch is Reached {}
  }
}

extension Timestamp {
  fileprivate func earlier(by duration: Duration) -> Timestamp {
    let (difference, overflow) = microseconds.subtractingReportingOverflow(
      duration.wholeMicroseconds)
    return overflow ? .earliest : max(.earliest, Timestamp(microseconds: difference))
  }
}
