public import Postgres
public import QuakeModel

/// What workers know of a feed between two polls: its row in `quake.feed`.
public struct FeedState: Sendable {
  /// ETag of the last snapshot taken.
  public var etag: String?
  /// Last-Modified of the last snapshot taken, as it was given.
  public var lastModified: String?
  /// Failed polls since the last that succeeded.
  public var failures = 0

  /// Reads the state of the feed called `name`, if it was polled from this `url`.
  public static func load(
    _ name: String, url: String, over connection: Connection
  ) throws(PostgresError) -> FeedState {
    let result = try connection.executePrepared(
      "select etag, last_modified, failures from quake.feed where name = $1 and url = $2",
      [.text(name), .text(url)])
    var state = FeedState()
    guard result.rowCount == 1 else { return state }
    state.etag = result.text(0, 0)
    state.lastModified = result.text(0, 1)
    state.failures = Int(result.integer(0, 2) ?? 0)
    return state
  }

  /// Records a poll that succeeded.
  public static func recordSuccess(
    _ name: String, url: String, etag: String?, lastModified: String?, generated: Timestamp?,
    over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      insert into quake.feed as f (name, url, etag, last_modified, generated, polled_at, succeeded_at)
      values ($1, $2, $3, $4, $5, now(), now())
      on conflict (name) do update
        set url = excluded.url, etag = excluded.etag, last_modified = excluded.last_modified,
            generated = coalesce(excluded.generated, f.generated), polled_at = excluded.polled_at,
            succeeded_at = excluded.succeeded_at, failures = 0, error = null
      """,
      [
        .text(name), .text(url), .text(etag), .text(lastModified), .text(generated?.description),
      ])
  }

  /// Records a poll that failed, and why.
  public static func recordFailure(
    _ name: String, url: String, error: String, over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      insert into quake.feed as f (name, url, polled_at, failures, error)
      values ($1, $2, now(), 1, $3)
      on conflict (name) do update
        set url = excluded.url, polled_at = excluded.polled_at, failures = f.failures + 1,
            error = excluded.error
      """, [.text(name), .text(url), .text(error)])
  }
}
