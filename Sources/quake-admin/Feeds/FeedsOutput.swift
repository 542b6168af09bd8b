import CommandLine
import Postgres
import QuakeFeed
import QuakeHistory
import QuakeModel
import QuakeTool
import QuakeWorker

/// Feeds as a table, in all detail, and as JSON.
enum FeedsOutput {
  static func write(
    _ feeds: [StoreStatus.Feed], over connection: Connection, isJSON: Bool
  ) throws {
    let now = try present(over: connection)
    let output = StandardOutput()
    try output.write(feeds, isJSON: isJSON, members: { write($0, now, to: &$1) }) { feeds in
      if !feeds.isEmpty {
        return summary(of: feeds, knowsWorkers: true) + "\n\n" + table(of: feeds, now, state: state)
      }
      return Terminal.isTerminal(output.descriptor) ? "no feed was polled yet\n" : ""
    }
  }

  /// The most feeds of which each gets its state in a table, and a place in the status; of more, only those that are not
  /// in order.
  static let mostInDetail = 20

  /// The number of feeds, and how many of them are in which state.
  static func summary(of feeds: [StoreStatus.Feed], knowsWorkers: Bool) -> String {
    let active = feeds.filter { $0.pause == nil }
    let counts = [
      (feeds.count { $0.isInOrder(knowsWorkers: knowsWorkers) }, "in order"),
      (active.count { $0.failures > 0 }, "failing"),
      (active.count { knowsWorkers && $0.lacksWorker }, "without a worker"),
      (active.count { $0.movedTo != nil }, "redirected"),
      (feeds.count - active.count, "paused"),
    ]
    return Readable.count(feeds.count, "feed") + ": "
      + counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }

  /// A line for each feed, and below it its state, at most 80 columns wide. Of many feeds, those that are in order have no
  /// state.
  static func table(
    of feeds: [StoreStatus.Feed], _ now: Timestamp, state: (StoreStatus.Feed) -> String
  ) -> String {
    var table = TextTable([
      .text("feed"), .number("last success"), .number("next poll"), .number("failures"),
    ])
    for feed in feeds {
      var notes: [String] = []
      if feeds.count <= mostInDetail || !feed.isInOrder(knowsWorkers: true) {
        notes.append(state(feed))
      }
      if let address = feed.movedTo { notes.append("redirects to \(address)") }
      if let error = feed.error { notes.append("error: \(error)") }
      table.add(
        [
          PrintableText.line(feed.name, atMost: 28),
          feed.succeededAt.map { "\(age(of: $0, now)) ago" } ?? "never", nextPoll(of: feed, now),
          "\(feed.failures)",
        ], notes: notes)
    }
    return table.render()
  }

  /// Writes all that the database has of feeds, one after the other.
  static func writeDetails(
    of names: [String], over connection: Connection, isJSON: Bool
  ) throws {
    let feeds = try StoreStatus.feeds(connection)
    let now = try present(over: connection)
    let output = StandardOutput()
    var isFirst = true
    for name in names {
      guard let feed = feeds.first(where: { $0.name == name }) else { continue }
      let stored = try Stored(name, over: connection)
      if isJSON {
        try output.writeJSON { json in
          json.object { json in
            write(feed, now, to: &json)
            stored.write(to: &json)
          }
        }
      } else {
        if !isFirst { try output.writeLine("") }
        try output.write(details(of: feed, stored, now))
      }
      isFirst = false
    }
    try output.flush()
  }

  /// The columns that only `quake.feed` has.
  private struct Stored {
    let etag: String?
    let lastModified: String?
    let freshUntil: Timestamp?
    let retryAfter: Timestamp?
    let resetAt: Timestamp?
    let absences: Int64
    let quarantined: Int64

    init(_ name: String, over connection: Connection) throws(PostgresError) {
      let state = try connection.firstRow(
        """
        select f.etag, f.last_modified, f.fresh_until, f.retry_after, f.reset_at,
               (select count(*) from quake.absence a
                 where a.feed = f.name and a.withdrawn_at is null),
               (select count(*) from quake.import i
                 where i.feed = f.name and i.quarantined_at is not null and i.decision is null)
          from quake.feed f where f.name = \(name)
        """, format: .binary,
        as: (String?, String?, Timestamp?, Timestamp?, Timestamp?, Int64, Int64).self)
      (etag, lastModified, freshUntil, retryAfter, resetAt, absences, quarantined) =
        state ?? (nil, nil, nil, nil, nil, 0, 0)
    }

    func write(to json: inout JSONWriter) {
      json.member("etag", etag)
      json.member("last_modified", lastModified)
      json.member("fresh_until", freshUntil)
      json.member("retry_after", retryAfter)
      json.member("reset_at", resetAt)
      json.member("absences", absences)
      json.member("quarantined", quarantined)
    }
  }

  private static func write(
    _ feed: StoreStatus.Feed, _ now: Timestamp, to json: inout JSONWriter
  ) {
    json.members(of: feed, lag: feed.succeededAt.map { difference(now, $0) })
    json.member("url", "\(FeedURL(feed.url))")
  }

  private static func details(
    of feed: StoreStatus.Feed, _ stored: Stored, _ now: Timestamp
  ) -> String {
    var table = TextTable([.text("feed"), .text(feed.name)])
    func add(_ key: String, _ value: String?) {
      if let value { table.add([key, value]) }
    }
    add("address", "\(FeedURL(feed.url))")
    add("redirects to", feed.movedTo)
    add("state", state(of: feed))
    add("interval", feed.interval.map { Readable.duration(Duration(lag: $0)) })
    add("last success", feed.succeededAt.map { when($0, now) } ?? "never")
    if feed.polledAt != feed.succeededAt { add("last poll", feed.polledAt.map { when($0, now) }) }
    if feed.failures > 0 { add("failures", "\(feed.failures)") }
    add("error", feed.error)
    add("next poll", nextPoll(of: feed, now))
    add("fresh until", stored.freshUntil.flatMap { $0 > now ? $0.text : nil })
    add("retry after", stored.retryAfter.flatMap { $0 > now ? $0.text : nil })
    add("generated", feed.generated.map(\.text))
    add("last import", feed.lastImport.map { "\($0)" })
    add("etag", stored.etag)
    add("last modified", stored.lastModified)
    add("reset", stored.resetAt.map(\.text))
    add("absent events", stored.absences > 0 ? Readable.count(Int(stored.absences)) : nil)
    add("quarantined", stored.quarantined > 0 ? Readable.count(Int(stored.quarantined)) : nil)
    return table.render()
  }

  /// The worker that polls a feed, or the reason why none does.
  static func state(of feed: StoreStatus.Feed) -> String {
    if let pause = feed.pause { return pause.text }
    if feed.isHeld { return "polled by \(feed.holderText)" }
    if let ended = feed.endedAt { return "polled once, until \(ended.text)" }
    return "no worker polls it"
  }

  private static func nextPoll(of feed: StoreStatus.Feed, _ now: Timestamp) -> String {
    guard feed.pause == nil, feed.isHeld || feed.endedAt == nil else { return "" }
    guard let due = feed.nextDue else { return "" }
    guard due > now else { return "now" }
    return "in \(Readable.duration(difference(due, now)))"
  }

  private static func present(over connection: Connection) throws -> Timestamp {
    try connection.row("select clock_timestamp()", format: .binary, as: Timestamp.self)
  }

  private static func difference(_ later: Timestamp, _ earlier: Timestamp) -> Duration {
    let (difference, overflow) = later.microseconds.subtractingReportingOverflow(
      earlier.microseconds)
    return overflow ? .zero : .microseconds(difference)
  }

  private static func age(of moment: Timestamp, _ now: Timestamp) -> String {
    Readable.duration(max(.zero, difference(now, moment)))
  }

  private static func when(_ moment: Timestamp, _ now: Timestamp) -> String {
    "\(moment.text) (\(age(of: moment, now)) ago)"
  }
}

extension StoreStatus.Feed {
  /// Whether no worker polls the feed, although one should.
  var lacksWorker: Bool { !isHeld && endedAt == nil }

  /// Whether it is polled as it should be, and no server redirects elsewhere.
  ///
  /// - Parameter knowsWorkers: Whether the database shows which worker polls the feed.
  func isInOrder(knowsWorkers: Bool) -> Bool {
    pause == nil && failures == 0 && movedTo == nil && !(knowsWorkers && lacksWorker)
  }

  var holderText: String {
    var words = [holderApplication ?? "somebody"]
    if let pid = holderPID { words.append("session \(pid)") }
    if let address = holderAddress { words.append("from \(address)") }
    return words.joined(separator: ", ")
  }
}
