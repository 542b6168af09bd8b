public import Postgres
public import QuakeModel

/// The requests to poll feeds now, from the worker's side.
public enum RefreshQueue {
  /// The result of a poll, for the sessions that requested it.
  public struct Answer: Sendable {
    /// The outcome.
    public var outcome: RefreshOutcome
    /// The report of the import; nil if there was none.
    public var report: ImportReport?
    /// The error of a failed poll; else nil.
    public var error: String?

    /// An answer of the given parts.
    public init(_ outcome: RefreshOutcome, report: ImportReport? = nil, error: String? = nil) {
      self.outcome = outcome
      self.report = report
      self.error = error
    }
  }

  /// Begins to listen for requests. The connection becomes readable when there is one.
  public static func listen(over connection: Connection) throws(PostgresError) {
    try connection.execute("listen quake_refresh")
  }

  /// Marks the open requests for `feeds` as seen by a worker.
  ///
  /// - Parameter feeds: The feeds that this worker polls.
  /// - Returns: The feeds with open requests. Requests older than ten minutes are ignored.
  public static func take(
    for feeds: [String], over connection: Connection
  ) throws(PostgresError) -> [String] {
    let result = try connection.executePrepared(
      """
      with taken as (
        update quake.refresh_request set taken_at = clock_timestamp()
         where feed = any ($1::text[]) and done_at is null and taken_at is null)
      select distinct feed from quake.refresh_request
       where feed = any ($1::text[]) and done_at is null
         and requested_at > clock_timestamp() - interval '10 minutes'
      """, [.array(feeds)])
    return (0..<result.rowCount).compactMap { result.text($0, 0) }
  }

  /// Records that a poll has begun. It will answer all requests made until now; later requests need another
  /// poll.
  ///
  /// - Parameter time: When the poll began (`FeedState.readAt`).
  public static func begin(
    _ feed: String, at time: String, over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      update quake.refresh_request
         set begun_at = $2::timestamptz
       where feed = $1 and done_at is null and begun_at is null
         and requested_at <= $2::timestamptz
      """, [.text(feed), .text(time)])
  }

  /// Answers all requests made before a poll began. The commit sends them a notification.
  ///
  /// - Parameter time: When the poll began (`FeedState.readAt`).
  public static func answer(
    _ feed: String, before time: String, _ answer: Answer, over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      with answered as (
        update quake.refresh_request
           set taken_at = coalesce(taken_at, clock_timestamp()), done_at = clock_timestamp(),
               outcome = $3, import_id = $4, seen = $5, inserted = $6, updated = $7, error = $8
         where feed = $1 and done_at is null and requested_at <= $2::timestamptz
        returning id)
      select pg_notify('quake_refreshed', '') where exists (select from answered)
      """,
      [
        .text(feed), .text(time), .text(answer.outcome.rawValue), .integer(answer.report?.id),
        .integer(answer.report?.seen), .integer(answer.report?.inserted),
        .integer(answer.report?.updated), .text(answer.error),
      ])
  }
}
