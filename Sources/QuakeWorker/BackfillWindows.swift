package import Postgres
package import QuakeModel

/// The windows of a backfill, as stored in the database.
package struct BackfillWindows {
  package struct Progress: Sendable, Equatable {
    /// Windows whose events are stored.
    package var done = 0
    /// Windows that have not been fetched.
    package var pending = 0
    /// Records in the windows that are done.
    package var records: Int64 = 0
    /// The number of events in the whole span, according to the service; nil if unknown.
    package var expected: Int64?
    /// Seconds of the span that are done.
    package var secondsDone: Int64 = 0
    /// The most records in a window that is done.
    package var longest: Int64 = 0
  }

  private let id: Int64
  private let connection: Connection

  init(backfill id: Int64, connection: Connection) {
    self.id = id
    self.connection = connection
  }

  package init(of backfill: Backfill, over connection: Connection) {
    self.init(backfill: backfill.id, connection: connection)
  }

  func add(_ window: BackfillWindow) throws(PostgresError) {
    try connection.execute(
      """
      insert into quake.backfill_window (backfill_id, start_time, end_time, count)
      values (\(id), \(window.start), \(window.end), \(window.count))
      """)
  }

  private func isRow(of window: BackfillWindow) -> SQL {
    "backfill_id = \(id) and start_time = \(window.start)"
  }

  /// The earliest window that has not been fetched; nil if all are done.
  package func next() throws(PostgresError) -> BackfillWindow? {
    let next = try connection.firstRow(
      """
      select start_time, end_time, count
        from quake.backfill_window where backfill_id = \(id) and state = 'pending'
       order by start_time limit 1
      """, prepared: true, format: .binary, as: (Timestamp, Timestamp, Int64?).self)
    return next.flatMap { start, end, count in
      BackfillWindow(from: start, to: end, count: count)
    }
  }

  /// Stores the number of events in a window, and if the window is the whole span, as the expected total.
  package func set(count: Int64?, of window: BackfillWindow) throws {
    try connection.transaction {
      try connection.execute(
        "update quake.backfill_window set count = \(count) where \(sql: isRow(of: window))")
      try connection.execute(
        """
        update quake.backfill set expected = coalesce(expected, \(count))
         where id = \(id) and start_time = \(window.start) and end_time = \(window.end)
        """)
    }
  }

  /// Replaces a window by its halves.
  ///
  /// - Returns: False if it is too short to be split; then nothing changes.
  package func cut(_ window: BackfillWindow) throws -> Bool {
    guard let (first, second) = window.halves else { return false }
    try connection.transaction { try replace(window, by: first, and: second) }
    return true
  }

  private func replace(
    _ window: BackfillWindow, by first: BackfillWindow, and second: BackfillWindow
  ) throws {
    try connection.execute(
      """
      update quake.backfill_window set end_time = \(first.end), count = null
       where \(sql: isRow(of: window))
      """)
    try add(second)
  }

  /// Marks a window as done, or splits it if the service may have cut off its answer, within the transaction
  /// of the import that stores its events.
  ///
  /// - Parameters:
  ///   - received: The number of events in the answer; nil: those of the report.
  ///   - limit: The most events in one answer.
  ///   - longest: The most events of an answer so far.
  /// - Throws: `StoreError` of kind `badData` if it must be split but is too short.
  package func complete(
    _ window: BackfillWindow, of backfill: Backfill, with report: ImportReport,
    received: Int64? = nil,
    limit: Int64, longest: Int64 = 0
  ) throws {
    try backfill.add(report, over: connection)
    let received = received ?? report.seen
    if window.isWhole(seen: received, limit: limit, longest: longest) {
      try connection.execute(
        """
        update quake.backfill_window
           set state = 'done', count = \(received), import_id = \(report.id),
               finished_at = clock_timestamp()
         where \(sql: isRow(of: window))
        """)
      return
    }
    guard let (first, second) = window.halves else {
      throw StoreError(
        .badData,
        "the window of one second at \(window.start) has more events than the service returns",
        detail: "The service returned \(received) events, and its limit is \(limit).",
        hint: "Fetch only larger events, with --min-magnitude.")
    }
    try replace(window, by: first, and: second)
  }

  package func progress() throws(PostgresError) -> Progress {
    try connection.row(
      """
      select count(*) filter (where state = 'done') as done,
             count(*) filter (where state = 'pending') as pending,
             coalesce(sum(count) filter (where state = 'done'), 0) as records,
             (select expected from quake.backfill where id = \(id)) as expected,
             coalesce(sum(extract(epoch from end_time - start_time))
               filter (where state = 'done'), 0)::bigint as seconds_done,
             coalesce(max(count) filter (where state = 'done'), 0) as longest
        from quake.backfill_window where backfill_id = \(id)
      """, prepared: true
    ) { row throws(PostgresError) in
      Progress(
        done: try row["done"], pending: try row["pending"], records: try row["records"],
        expected: try row["expected"], secondsDone: try row["seconds_done"],
        longest: try row["longest"])
    }
  }
}

/// A span of origin times that a backfill requests from an event service in one query.
///
/// Windows are half-open, [start, end), and begin and end with whole seconds, which every service accepts.
/// Both bounds of a service's query are inclusive: an event on the border of two windows may be in both
/// answers, but never in none.
package struct BackfillWindow: Sendable, Equatable {
  /// The earliest origin time of its events.
  package let start: Timestamp
  /// The origin time before which its events end; after `start`.
  package let end: Timestamp
  /// The number of events in it, according to the service; nil if unknown.
  package var count: Int64?

  /// The window from `start` to `end`, widened to whole seconds; nil if it would be empty, or is outside the
  /// years that a feed may contain.
  package init?(from start: Timestamp, to end: Timestamp, count: Int64? = nil) {
    guard start < end, start >= .earliest, end <= .latest else { return nil }
    self.start = Timestamp(microseconds: Self.seconds(start, .down) * 1_000_000)
    self.end = Timestamp(microseconds: Self.seconds(end, .up) * 1_000_000)
    self.count = count
  }

  private static func seconds(_ time: Timestamp, _ rule: FloatingPointRoundingRule) -> Int64 {
    let (quotient, remainder) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    switch rule {
    case .up: return remainder > 0 ? quotient + 1 : quotient
    default: return remainder < 0 ? quotient - 1 : quotient
    }
  }

  /// Its length in seconds, 1 or more.
  package var seconds: Int64 { (end.microseconds - start.microseconds) / 1_000_000 }

  /// The two halves, the earlier first; nil for a window of one second, which cannot be split.
  package var halves: (BackfillWindow, BackfillWindow)? {
    guard seconds > 1 else { return nil }
    let middle = Timestamp(microseconds: start.microseconds + seconds / 2 * 1_000_000)
    return BackfillWindow(from: start, to: middle).flatMap { first in
      BackfillWindow(from: middle, to: end).map { (first, $0) }
    }
  }

  package enum Step: Sendable, Equatable {
    /// Ask the service for the number of its events.
    case count
    case cut
    case fetch
  }

  /// The next step, for a service that returns at most `limit` events in one answer.
  ///
  /// - Parameter counts: Whether the service can count events.
  package func step(limit: Int64, counts: Bool) -> Step {
    guard let count else { return counts ? .count : .fetch }
    return count > limit ? .cut : .fetch
  }

  /// Whether an answer of `seen` events is complete, or may have been cut off.
  ///
  /// A service that counts refuses a window that is too large, or sends fewer events than it counts. Others may cut
  /// off their answer, and not exactly at the limit: EMSC's service returns 995 to 1,000 events if the limit is
  /// 1,000. So, without a count, an answer within a tenth of the limit is considered incomplete. They may also have
  /// a limit of their own, which is a round number: such an answer is incomplete until the service has sent a longer
  /// one. A window of a second cannot be split, so it counts as whole unless the answer reaches the limit.
  ///
  /// - Parameters:
  ///   - limit: The most events in one answer.
  ///   - longest: The most events of an answer so far.
  package func isWhole(seen: Int64, limit: Int64, longest: Int64 = 0) -> Bool {
    isWhole(seen: seen, limit: limit, longest: longest, acceptsDoubt: seconds == 1)
  }

  /// Whether an answer counts as whole only because the window cannot be split.
  package func isDoubtful(seen: Int64, limit: Int64, longest: Int64 = 0) -> Bool {
    isWhole(seen: seen, limit: limit, longest: longest)
      && !isWhole(seen: seen, limit: limit, longest: longest, acceptsDoubt: false)
  }

  private func isWhole(seen: Int64, limit: Int64, longest: Int64, acceptsDoubt: Bool) -> Bool {
    guard let count else {
      guard seen < limit - limit / 10 else { return false }
      return acceptsDoubt || seen < longest || !Self.isRound(seen)
    }
    guard seen < count else { return seen < limit || count == seen }
    return acceptsDoubt || !Self.isRound(seen) && !isShort(seen)
  }

  /// Whether an answer has so much fewer events than the service counts that others are missing: between the two
  /// requests, only few are added or removed.
  private func isShort(_ seen: Int64) -> Bool {
    count.map { seen < $0 - max(10, $0 / 100) } ?? false
  }

  /// Whether a number of events may be a limit of the service: 10, 20, 25, or a multiple of 50.
  package static func isRound(_ seen: Int64) -> Bool {
    seen > 0 && (seen % 50 == 0 || [10, 20, 25].contains(seen))
  }
}
