internal import Basics
package import Postgres
package import QuakeModel

package enum RefreshOutcome: String, Sendable, SQLEncodable, SQLDecodable {
  case imported
  case notModified = "not_modified"
  /// The snapshot could not be imported.
  case badData = "bad_data"
  /// The feed could not be fetched.
  case unavailable
  case failed
}

/// A request to poll feeds now, from the side of the client that makes it.
package struct RefreshRequest: Sendable {
  package struct Status: Sendable {
    package var feed: String
    /// Whether a worker polls it at all.
    package var isHeld: Bool
    /// Whether a worker has seen the request.
    package var isTaken: Bool
    /// The outcome; nil if there is none yet.
    package var outcome: RefreshOutcome?
    /// The import of the snapshot; nil if there was none.
    package var importID: Int64?
    /// Records in the feed, events that were new, and events whose contents differed.
    package var seen, inserted, updated: Int64?
    /// The token of the import's transaction; nil if no event changed.
    package var token: ChangeToken?
    package var error: String?
  }

  package let id: Int64

  /// Requests a poll from the workers.
  ///
  /// - Parameter feed: The feed's name; nil for all polled feeds.
  /// - Throws: `StoreError` of kind `unknownFeed` if there is none; `PostgresError`.
  @discardableResult
  package static func ask(for feed: String?, over connection: Connection) throws -> RefreshRequest {
    do throws(PostgresError) {
      return RefreshRequest(
        id: try connection.row("select quake.request_refresh(\(feed))", as: Int64.self))
    } catch {
      guard error.sqlState == StoreState.unknownFeed else { throw error }
      throw try FeedControl.refusalOfRegion(over: connection)
        ?? StoreError(.unknownFeed, error.message, detail: error.detail, hint: error.hint)
    }
  }

  /// Begins to listen for answers. The connection becomes readable when there is one.
  package static func listen(over connection: Connection) throws(PostgresError) {
    try connection.execute("listen quake_refreshed")
  }

  /// Ends what `listen` began, for a connection that is used for other things afterwards.
  package static func stopListening(over connection: Connection) throws(PostgresError) {
    try connection.execute("unlisten quake_refreshed")
    while try !connection.takeNotifications().isEmpty {}
  }

  /// The status for each feed, by name.
  package func status(over connection: Connection) throws(PostgresError) -> [Status] {
    try connection.rows(
      """
      select r.feed, coalesce(s.held, false) as held, r.taken_at is not null as taken, r.outcome,
             r.import_id, r.seen, r.inserted, r.updated, t.token || '.' || t.nonce as token, r.error
        from quake.refresh_request r
        left join quake.feed_status s on s.name = r.feed
        left join quake.import i on i.id = r.import_id
        left join quake.change_transaction t on t.token = i.token
       where r.id = \(id) order by r.feed
      """
    ) { row throws(PostgresError) in
      Status(
        feed: try row["feed"], isHeld: try row["held"], isTaken: try row["taken"],
        outcome: try row["outcome"], importID: try row["import_id"], seen: try row["seen"],
        inserted: try row["inserted"], updated: try row["updated"], token: try row["token"],
        error: try row["error"])
    }
  }

  /// How long to wait for a feed that no worker polls: a takeover takes seconds.
  private static let takeover = Duration.seconds(6)
  /// How often the result is queried, in case a notification was lost.
  private static let safetyPoll = Duration.seconds(1)

  /// Waits until each feed has a result, the time is up, or no worker polls the remaining feeds. The connection
  /// must listen.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait.
  ///   - wake: A descriptor that becomes readable when the wait shall end early.
  ///   - shouldStop: Whether to end the wait early.
  /// - Returns: The status for each feed, by name.
  package func results(
    within timeout: Duration, over connection: Connection, wake: Int32,
    shouldStop: () -> Bool = { false }
  ) throws(PostgresError) -> [Status] {
    let begun = MonotonicClock.now()
    while true {
      let statuses = try status(over: connection)
      let elapsed = MonotonicClock.now() - begun
      let isHopeless = { (feed: Status) in
        !feed.isTaken && !feed.isHeld && elapsed >= Self.takeover
      }
      let left = timeout - elapsed
      guard statuses.contains(where: { $0.outcome == nil && !isHopeless($0) }), left > .zero,
        !shouldStop()
      else { return statuses }
      try Self.wait(for: min(left, Self.safetyPoll), over: connection, wake: wake)
    }
  }

  /// Waits until there may be an answer, `duration` is over or the wake descriptor is readable.
  package static func wait(
    for duration: Duration, over connection: Connection, wake: Int32
  ) throws(PostgresError) {
    let deadline = Deadline(after: duration)
    while try connection.takeNotifications().isEmpty {
      guard connection.wait(until: deadline, wake: wake) == .ready else { return }
    }
  }
}

/// The requests to poll feeds now, from the worker's side.
package enum RefreshQueue {
  /// The result of a poll, for the sessions that requested it.
  package struct Answer: Sendable {
    package var outcome: RefreshOutcome
    /// The report of the import; nil if there was none.
    package var report: ImportReport?
    /// The error of a failed poll; else nil.
    package var error: String?

    package init(_ outcome: RefreshOutcome, report: ImportReport? = nil, error: String? = nil) {
      self.outcome = outcome
      self.report = report
      self.error = error
    }
  }

  /// Begins to listen for requests. The connection becomes readable when there is one.
  package static func listen(over connection: Connection) throws(PostgresError) {
    try connection.execute("listen quake_refresh")
  }

  /// Accepts the open requests for `feeds`: marks them as seen by a worker.
  ///
  /// - Parameter feeds: The feeds that this worker polls.
  /// - Returns: The feeds with open requests. Requests older than ten minutes are ignored.
  package static func accept(
    for feeds: [String], over connection: Connection
  ) throws(PostgresError) -> [String] {
    try connection.rows(
      """
      with taken as (
        update quake.refresh_request set taken_at = clock_timestamp()
         where feed = any (\(feeds)::text[]) and done_at is null and taken_at is null)
      select distinct feed from quake.refresh_request
       where feed = any (\(feeds)::text[]) and done_at is null
         and requested_at > clock_timestamp() - interval '10 minutes'
      """, prepared: true, as: String.self)
  }

  /// Records that a poll has begun. It will answer all requests made until now; later requests need another
  /// poll.
  ///
  /// - Parameter time: When the poll began (`FeedState.readAt`).
  package static func begin(
    _ feed: String, at time: String, over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      update quake.refresh_request
         set begun_at = \(time)::timestamptz
       where feed = \(feed) and done_at is null and begun_at is null
         and requested_at <= \(time)::timestamptz
      """)
  }

  /// Answers all requests made before a poll began. The commit sends them a notification.
  ///
  /// - Parameter time: When the poll began (`FeedState.readAt`).
  package static func answer(
    _ feed: String, before time: String, _ answer: Answer, over connection: Connection
  ) throws(PostgresError) {
    try connection.executePrepared(
      """
      with answered as (
        update quake.refresh_request
           set taken_at = coalesce(taken_at, clock_timestamp()), done_at = clock_timestamp(),
               outcome = \(answer.outcome), import_id = \(answer.report?.id),
               seen = \(answer.report?.seen), inserted = \(answer.report?.inserted),
               updated = \(answer.report?.updated), error = \(answer.error)
         where feed = \(feed) and done_at is null and requested_at <= \(time)::timestamptz
        returning id)
      select pg_notify('quake_refreshed', '') where exists (select from answered)
      """)
  }
}

extension JSONWriter {
  /// Writes the status of a requested poll of one feed.
  ///
  /// - Parameter request: The number of the request.
  package mutating func refresh(_ feed: RefreshRequest.Status, request: Int64) {
    object { json in
      json.member("request", request)
      json.member("feed", feed.feed)
      json.member("outcome", feed.outcome?.rawValue)
      json.member("import", feed.importID)
      json.member("seen", feed.seen)
      json.member("inserted", feed.inserted)
      json.member("updated", feed.updated)
      json.member("token", feed.token?.description)
      json.member("error", feed.error)
    }
  }
}
