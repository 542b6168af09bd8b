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
  /// The address to which its server redirects for good, or on another host; nil: it does not.
  package var movedTo: String?

  /// The state of a feed that was never polled.
  package init() {}

  package struct Times: Sendable {
    /// Time between two polls.
    package var every: Duration
    /// Time until the next poll.
    package var next: Duration
    /// The time that its server requested with Retry-After; nil if it did not.
    package var asked: Duration?

    package init(every: Duration, next: Duration, asked: Duration? = nil) {
      self.every = every
      self.next = next
      self.asked = asked
    }
  }

  /// The longest wait that a row can cause, counted from the last poll: a clock that was wrong for a while, or a
  /// forged row, must not stop the polling, however often a worker starts. A server can ask for a day.
  private static let longestWait = Duration.seconds(90_000)
  /// A poll that is further in the future shows that a clock was wrong.
  private static let clockTolerance = Duration.seconds(60)

  /// A wait that the row of a feed states, within its limits.
  private static func bounded(
    _ seconds: Double?, every: Duration, polledAgo: Duration?
  ) -> Duration {
    guard let seconds else { return .zero }
    let ago = polledAgo ?? .zero
    guard ago >= .zero - clockTolerance else { return .zero }
    let longest = max(longestWait, every + every / 10) - max(ago, .zero)
    return min(Duration(lag: seconds), max(longest, .zero))
  }

  /// Registers feeds, so that a refresh can be requested before they are first polled.
  package static func register(
    _ feeds: [(name: String, url: String)], over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      """
      insert into quake.feed (name, url)
      select name, url from unnest(\(feeds.map(\.name))::text[], \(feeds.map(\.url))::text[]) f (name, url)
      on conflict (name) do nothing
      """)
  }

  /// The feeds of `feeds` that a worker polls at another address, with that address.
  package static func polledElsewhere(
    _ feeds: [(name: String, url: String)], over connection: Connection
  ) throws(PostgresError) -> [(name: String, url: String)] {
    try connection.rows(
      """
      select s.name, s.url
        from quake.feed_status s
        join unnest(\(feeds.map(\.name))::text[], \(feeds.map(\.url))::text[]) f (name, url)
             on f.name = s.name and f.url <> s.url
       where s.held
      """, as: (String, String).self
    ).map { (name: $0, url: $1) }
  }

  /// Reads the state of the feed called `name`. The state of a feed of that name at another address is
  /// ignored.
  ///
  /// - Parameter every: The time between two polls. If it has changed, the next poll is due accordingly.
  package static func load(
    _ name: String, url: String, every: Duration, over connection: Connection
  ) throws(PostgresError) -> FeedState {
    let interval = every
    let every = every.inSeconds
    return try connection.row(
      """
      select f.etag, f.last_modified, f.failures, f.moved_to,
             extract(epoch from c.at - f.polled_at) as polled_ago,
             extract(epoch from greatest(
               case when f.failures = 0 and f.every <> make_interval(secs => \(every))
                    then f.polled_at + make_interval(secs => \(every)) else f.next_due end,
               f.fresh_until, f.retry_after) - c.at) as due_in,
             extract(epoch from f.retry_after - c.at) as retry_in, c.at as read_at, p.paused_by,
             p.paused_at, p.reset_at
        from (select clock_timestamp() as at) c
        left join quake.feed f on f.name = \(name) and f.url = \(url)
        left join quake.feed p on p.name = \(name)
      """, prepared: true
    ) { row throws(PostgresError) in
      let polledAgo: Double? = try row["polled_ago"]
      let dueIn: Double? = try row["due_in"]
      let retryIn: Double? = try row["retry_in"]
      var state = FeedState()
      state.etag = try row["etag"]
      state.lastModified = try row["last_modified"]
      state.movedTo = try row["moved_to"]
      state.failures = try row["failures"] ?? 0
      state.polledAgo = polledAgo.map { Duration(lag: $0) }
      state.dueIn = bounded(dueIn, every: interval, polledAgo: state.polledAgo)
      state.retryIn = bounded(retryIn, every: interval, polledAgo: state.polledAgo)
      state.readAt = try row["read_at"]
      state.pause = FeedPause(by: try row["paused_by"], since: try row["paused_at"])
      state.resetAt = try row["reset_at"]
      return state
    }
  }

  /// Records a poll that succeeded. If the feed has been reset since its state was read, the validators are
  /// not stored.
  ///
  /// - Parameters:
  ///   - state: The state when the poll began, with the new validators and the new address. Its `resetAt` is compared, and not the time
  ///     at which it was read: a reset that was not committed then has an earlier time.
  ///   - report: The import of the snapshot; nil if the feed was not modified.
  package static func recordSuccess(
    _ name: String, url: String, _ state: FeedState, report: ImportReport?, times: Times,
    over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      insert into quake.feed as f (
        name, url, etag, last_modified, moved_to, generated, last_import_id, polled_at, succeeded_at,
        every, next_due, fresh_until)
      select \(name), \(url), \(state.etag), \(state.lastModified), \(state.movedTo),
             \(report?.generated)::timestamptz, \(report?.id)::bigint, c.at, c.at,
             make_interval(secs => \(times.every.inSeconds)),
             c.at + make_interval(secs => \(times.next.inSeconds)),
             c.at + make_interval(secs => \(times.asked?.inSeconds))
        from (select clock_timestamp() as at) c
      on conflict (name) do update
        set url = excluded.url,
            etag = case when f.reset_at is not distinct from \(state.resetAt)::timestamptz then excluded.etag end,
            last_modified = case when f.reset_at is not distinct from \(state.resetAt)::timestamptz
                                 then excluded.last_modified end,
            moved_to = excluded.moved_to,
            generated = coalesce(excluded.generated, f.generated), polled_at = excluded.polled_at,
            last_import_id = coalesce(excluded.last_import_id, f.last_import_id),
            succeeded_at = excluded.succeeded_at, every = excluded.every,
            next_due = excluded.next_due, fresh_until = excluded.fresh_until, retry_after = null,
            failures = 0, error = null
      """)
  }

  /// Records a poll that failed, with its error.
  ///
  /// - Parameter movedTo: See `FeedState.movedTo`.
  package static func recordFailure(
    _ name: String, url: String, error: String, movedTo: String? = nil, times: Times,
    over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      insert into quake.feed as f (
        name, url, moved_to, failures, error, polled_at, every, next_due, retry_after)
      select \(name), \(url), \(movedTo), 1, \(error), c.at, make_interval(secs => \(times.every.inSeconds)),
             c.at + make_interval(secs => \(times.next.inSeconds)),
             c.at + make_interval(secs => \(times.asked?.inSeconds))
        from (select clock_timestamp() as at) c
      on conflict (name) do update
        set url = excluded.url, polled_at = excluded.polled_at,
            failures = case when f.url = excluded.url then f.failures else 0 end + 1,
            etag = case when f.url = excluded.url then f.etag end,
            last_modified = case when f.url = excluded.url then f.last_modified end,
            moved_to = excluded.moved_to,
            error = excluded.error, every = excluded.every, next_due = excluded.next_due,
            fresh_until = null, retry_after = excluded.retry_after
      """)
  }

  /// Records that a worker polls feeds until it is stopped, so that a missing worker is a problem from now on.
  package static func begin(
    _ feeds: [String], over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      """
      update quake.feed set ended_at = null
       where name = any (\(feeds)::text[]) and ended_at is not null
      """)
  }

  /// Records that a worker ends that polled feeds once, so that they need no worker.
  package static func end(_ feeds: [String], over connection: Connection) throws(PostgresError) {
    try connection.execute(
      "update quake.feed set ended_at = clock_timestamp() where name = any (\(feeds)::text[])")
  }
}
