public import Postgres
public import QuakeModel

/// The windows of a backfill, in the database.
public struct BackfillWindows {
  /// How far a backfill has come.
  public struct Progress: Sendable, Equatable {
    /// Windows whose events are stored.
    public var done = 0
    /// Windows to be asked for.
    public var pending = 0
    /// Records that came with those that are done.
    public var records: Int64 = 0
    /// Events that the service said the whole span holds; nil: not known.
    public var expected: Int64?
    /// Seconds of the span that are done.
    public var secondsDone: Int64 = 0
  }

  private let id: Int64
  private let connection: Connection

  init(backfill id: Int64, connection: Connection) {
    self.id = id
    self.connection = connection
  }

  /// The windows of `backfill`.
  public init(of backfill: Backfill, over connection: Connection) {
    self.init(backfill: backfill.id, connection: connection)
  }

  func add(_ window: BackfillWindow) throws(PostgresError) {
    try connection.execute(
      """
      insert into quake.backfill_window (backfill_id, start_time, end_time, count)
      values ($1, $2, $3, $4)
      """, key(window) + [.text(window.end.description), .integer(window.count)])
  }

  private func key(_ window: BackfillWindow) -> [Parameter] {
    [.integer(id), .text(window.start.description)]
  }

  /// The earliest window that is to be asked for; nil when all are done.
  public func next() throws(PostgresError) -> BackfillWindow? {
    let result = try connection.executePrepared(
      """
      select (extract(epoch from start_time) * 1000000)::bigint,
             (extract(epoch from end_time) * 1000000)::bigint, count
        from quake.backfill_window where backfill_id = $1 and state = 'pending'
       order by start_time limit 1
      """, [.integer(id)])
    guard result.rowCount == 1, let start = result.integer(0, 0), let end = result.integer(0, 1)
    else { return nil }
    return BackfillWindow(
      from: Timestamp(microseconds: start), to: Timestamp(microseconds: end),
      count: result.integer(0, 2))
  }

  /// Notes how many events a window holds, and if it is the whole span, how many there are in all.
  public func set(count: Int64?, of window: BackfillWindow) throws {
    try connection.transaction {
      try connection.execute(
        "update quake.backfill_window set count = $3 where backfill_id = $1 and start_time = $2",
        key(window) + [.integer(count)])
      try connection.execute(
        """
        update quake.backfill set expected = coalesce(expected, $4)
         where id = $1 and start_time = $2 and end_time = $3
        """, key(window) + [.text(window.end.description), .integer(count)])
    }
  }

  /// Puts a window's halves in its place.
  ///
  /// - Returns: False if it is too short to be cut; then nothing is done.
  public func cut(_ window: BackfillWindow) throws -> Bool {
    guard let (first, second) = window.halves else { return false }
    try connection.transaction { try replace(window, by: first, and: second) }
    return true
  }

  private func replace(
    _ window: BackfillWindow, by first: BackfillWindow, and second: BackfillWindow
  ) throws {
    try connection.execute(
      """
      update quake.backfill_window set end_time = $3, count = null
       where backfill_id = $1 and start_time = $2
      """, key(window) + [.text(first.end.description)])
    try add(second)
  }

  /// Marks a window as done, or cuts it if the service may have cut off its answer, within the
  /// transaction of the import that stores its events.
  ///
  /// - Throws: `StoreError` of kind `badData` if it would have to be cut and cannot be.
  public func finish(
    _ window: BackfillWindow, of backfill: Backfill, with report: ImportReport, limit: Int64
  ) throws {
    try backfill.add(report, over: connection)
    if window.isWhole(seen: report.seen, limit: limit) {
      try connection.execute(
        """
        update quake.backfill_window
           set state = 'done', count = $3, import_id = $4, finished_at = clock_timestamp()
         where backfill_id = $1 and start_time = $2
        """, key(window) + [.integer(report.seen), .integer(report.id)])
      return
    }
    guard let (first, second) = window.halves else {
      throw StoreError(
        .badData,
        "the window of one second at \(window.start) holds more events than the service gives",
        detail: "It gave \(report.seen), where the limit is \(limit).",
        hint: "Ask for larger magnitudes only with --min-magnitude.")
    }
    try replace(window, by: first, and: second)
  }

  /// How far the backfill has come.
  public func progress() throws(PostgresError) -> Progress {
    let result = try connection.executePrepared(
      """
      select count(*) filter (where state = 'done'), count(*) filter (where state = 'pending'),
             coalesce(sum(count) filter (where state = 'done'), 0),
             (select expected from quake.backfill where id = $1),
             coalesce(sum(extract(epoch from end_time - start_time))
               filter (where state = 'done'), 0)::bigint
        from quake.backfill_window where backfill_id = $1
      """, [.integer(id)])
    var progress = Progress()
    progress.done = Int(result.integer(0, 0) ?? 0)
    progress.pending = Int(result.integer(0, 1) ?? 0)
    progress.records = result.integer(0, 2) ?? 0
    progress.expected = result.integer(0, 3)
    progress.secondsDone = result.integer(0, 4) ?? 0
    return progress
  }
}
