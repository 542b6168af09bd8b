internal import Basics
package import Postgres
internal import QuakeHistory
package import QuakeModel

/// The state of a feed between two polls: a row of `quake.feed`.
package struct FeedState: Sendable {
  /// ETag of the last imported snapshot.
  package var etag: String?
  /// Last-Modified of the last imported snapshot, as the server sent it.
  package var lastModified: String?
  /// Failed polls since the last that succeeded.
  package var failures = 0
  /// The time until it is due, by the server's clock; zero: now.
  package var dueIn = Duration.zero
  /// The remaining time of its server's Retry-After; zero if there is none.
  package var retryIn = Duration.zero
  /// The time since the last poll; nil if there was none.
  package var polledAgo: Duration?
  /// When this state was read, by the server's clock, as text for a parameter.
  package var readAt = ""
  /// When the feed was last reset, as text for a parameter; nil: never.
  package var resetAt: String?
  /// Who has paused the feed, and when; nil: it is not paused.
  package var pause: FeedPause?

  /// The state of a feed that was never polled.
  package init() {}

  /// The times of a feed's polls.
  package struct Times: Sendable {
    /// Time between two polls.
    package var every: Duration
    /// Time until the next poll.
    package var next: Duration
    /// The time that its server requested with Retry-After; nil if it did not.
    package var asked: Duration?

    /// Times of the given lengths.
    package init(every: Duration, next: Duration, asked: Duration? = nil) {
      self.every = every
      self.next = next
      self.asked = asked
    }
  }

  /// The longest wait that a row can cause: a clock that was wrong for a while must not stop the polling.
  private static let longestWait = Duration.seconds(90_000)

  /// Registers feeds, so that a refresh can be requested before they are first polled.
  package static func register(
    _ feeds: [(name: String, url: String)], over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      """
      insert into quake.feed (name, url)
      select name, url from unnest($1::text[], $2::text[]) f (name, url)
      on conflict (name) do nothing
      """, [.array(feeds.map(\.name)), .array(feeds.map(\.url))])
  }

  /// The feeds of `feeds` that a worker polls at another address, with that address.
  package static func polledElsewhere(
    _ feeds: [(name: String, url: String)], over connection: Connection
  ) throws(PostgresError) -> [(name: String, url: String)] {
    let result = try connection.execute(
      """
      select s.name, s.url
        from quake.feed_status s
        join unnest($1::text[], $2::text[]) f (name, url) on f.name = s.name and f.url <> s.url
       where s.held
      """, [.array(feeds.map(\.name)), .array(feeds.map(\.url))])
    return (0..<result.rowCount).map { row in
      (result.text(row, 0) ?? "", result.text(row, 1) ?? "")
    }
  }

  /// Reads the state of the feed called `name`. The state of a feed of that name at another address is
  /// ignored.
  ///
  /// - Parameter every: The time between two polls. If it has changed, the next poll is due accordingly.
  package static func load(
    _ name: String, url: String, every: Duration, over connection: Connection
  ) throws(PostgresError) -> FeedState {
    let result = try connection.executePrepared(
      """
      select f.etag, f.last_modified, f.failures, extract(epoch from c.at - f.polled_at),
             extract(epoch from greatest(
               case when f.failures = 0 and f.every <> make_interval(secs => $3)
                    then f.polled_at + make_interval(secs => $3) else f.next_due end,
               f.fresh_until, f.retry_after) - c.at),
             extract(epoch from f.retry_after - c.at), c.at, p.paused_by,
             (extract(epoch from p.paused_at) * 1000000)::bigint, p.reset_at
        from (select clock_timestamp() as at) c
        left join quake.feed f on f.name = $1 and f.url = $2
        left join quake.feed p on p.name = $1
      """, [.text(name), .text(url), .double(every.inSeconds)])
    func duration(_ column: Int) -> Duration? {
      result.text(0, column).flatMap { Double($0) }.map { Duration(lag: $0) }
    }
    var state = FeedState()
    state.etag = result.text(0, 0)
    state.lastModified = result.text(0, 1)
    state.failures = Int(result.integer(0, 2) ?? 0)
    state.polledAgo = duration(3)
    state.dueIn = min(duration(4) ?? .zero, longestWait)
    state.retryIn = min(duration(5) ?? .zero, longestWait)
    state.readAt = result.text(0, 6) ?? ""
    state.pause = FeedPause(by: result.text(0, 7), since: result.integer(0, 8))
    state.resetAt = result.text(0, 9)
    return state
  }

  /// Records a poll that succeeded. If the feed has been reset since its state was read, the validators are
  /// not stored.
  ///
  /// - Parameters:
  ///   - state: The state when the poll began, with the new validators. Its `resetAt` is compared, and not the time
  ///     at which it was read: a reset that was not committed then has an earlier time.
  ///   - report: The import of the snapshot; nil if the feed was not modified.
  package static func recordSuccess(
    _ name: String, url: String, _ state: FeedState, report: ImportReport?, times: Times,
    over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      insert into quake.feed as f (
        name, url, etag, last_modified, generated, last_import_id, polled_at, succeeded_at, every,
        next_due, fresh_until)
      select $1, $2, $3, $4, $5, $6::bigint, c.at, c.at, make_interval(secs => $7),
             c.at + make_interval(secs => $8), c.at + make_interval(secs => $9)
        from (select clock_timestamp() as at) c
      on conflict (name) do update
        set url = excluded.url,
            etag = case when f.reset_at is not distinct from $10::timestamptz then excluded.etag end,
            last_modified = case when f.reset_at is not distinct from $10::timestamptz
                                 then excluded.last_modified end,
            generated = coalesce(excluded.generated, f.generated), polled_at = excluded.polled_at,
            last_import_id = coalesce(excluded.last_import_id, f.last_import_id),
            succeeded_at = excluded.succeeded_at, every = excluded.every,
            next_due = excluded.next_due, fresh_until = excluded.fresh_until, retry_after = null,
            failures = 0, error = null
      """,
      [
        .text(name), .text(url), .text(state.etag), .text(state.lastModified),
        .text(report?.generated?.description), .integer(report?.id),
      ] + parameters(times) + [.text(state.resetAt)])
  }

  /// Records a poll that failed, with its error.
  package static func recordFailure(
    _ name: String, url: String, error: String, times: Times, over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      insert into quake.feed as f (
        name, url, failures, error, polled_at, every, next_due, retry_after)
      select $1, $2, 1, $3, c.at, make_interval(secs => $4), c.at + make_interval(secs => $5),
             c.at + make_interval(secs => $6)
        from (select clock_timestamp() as at) c
      on conflict (name) do update
        set url = excluded.url, polled_at = excluded.polled_at,
            failures = case when f.url = excluded.url then f.failures else 0 end + 1,
            etag = case when f.url = excluded.url then f.etag end,
            last_modified = case when f.url = excluded.url then f.last_modified end,
            error = excluded.error, every = excluded.every, next_due = excluded.next_due,
            fresh_until = null, retry_after = excluded.retry_after
      """, [.text(name), .text(url), .text(error)] + parameters(times))
  }

  /// Records that a worker polls feeds until it is stopped, so that a missing worker is a problem from now on.
  package static func begin(
    _ feeds: [String], over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      "update quake.feed set ended_at = null where name = any ($1::text[]) and ended_at is not null",
      [.array(feeds)])
  }

  /// Records that a worker ends that polled feeds once, so that they need no worker.
  package static func end(_ feeds: [String], over connection: Connection) throws(PostgresError) {
    try connection.execute(
      "update quake.feed set ended_at = clock_timestamp() where name = any ($1::text[])",
      [.array(feeds)])
  }

  private static func parameters(_ times: Times) -> [Parameter] {
    [
      .double(times.every.inSeconds), .double(times.next.inSeconds),
      times.asked.map { .double($0.inSeconds) } ?? .null,
    ]
  }
}
