package import Postgres
package import QuakeModel

/// An operator's actions on feeds: pause, resume, reset and forget.
package enum FeedControl {
  /// The names of all feeds.
  package static func names(over connection: Connection) throws(PostgresError) -> [String] {
    let rows = try connection.execute("select name from quake.feed_status order by name")
    return (0..<rows.rowCount).compactMap { rows.text($0, 0) }
  }

  /// Pauses a feed: no worker polls it until it is resumed. Workers learn of it by a notification, and read
  /// it before each poll.
  ///
  /// - Returns: The pause, and whether it is new; nil if there is no such feed.
  package static func pause(
    _ feed: String, over connection: Connection
  ) throws(PostgresError) -> (pause: FeedPause, isNew: Bool)? {
    let rows = try connection.execute(
      """
      with old as (select name, paused_at from quake.feed where name = $1 for update), new as (
        update quake.feed f
           set paused_at = coalesce(f.paused_at, clock_timestamp()),
               paused_by = coalesce(f.paused_by, session_user)
          from old where f.name = old.name
        returning f.paused_by, (extract(epoch from f.paused_at) * 1000000)::bigint,
                  old.paused_at is null as is_new)
      select * from new
      """, [.text(feed)])
    guard let pause = FeedPause(by: rows.text(0, 0), since: rows.integer(0, 1)) else { return nil }
    try wakeWorkers(over: connection)
    return (pause, rows.bool(0, 2) == true)
  }

  /// Resumes a paused feed.
  ///
  /// - Returns: Whether it was paused; nil if there is no such feed.
  package static func resume(
    _ feed: String, over connection: Connection
  ) throws(PostgresError) -> Bool? {
    let rows = try connection.execute(
      """
      with old as (select name, paused_at from quake.feed where name = $1 for update), new as (
        update quake.feed f set paused_at = null, paused_by = null
          from old where f.name = old.name
        returning old.paused_at is not null as was_paused)
      select * from new
      """, [.text(feed)])
    guard let wasPaused = rows.bool(0, 0) else { return nil }
    try wakeWorkers(over: connection)
    return wasPaused
  }

  /// Makes the next poll of a feed read all of it: forgets the validators, the schedule, and the snapshots
  /// that lacked an event which is not withdrawn yet. A Retry-After of the feed's server stays.
  ///
  /// - Returns: The number of events whose absences were forgotten; nil if there is no such feed.
  package static func reset(
    _ feed: String, over connection: Connection
  ) throws(PostgresError) -> Int? {
    let rows = try connection.execute(
      """
      update quake.feed
         set etag = null, last_modified = null, fresh_until = null, next_due = null,
             reset_at = clock_timestamp()
       where name = $1 returning name
      """, [.text(feed)])
    guard rows.rowCount == 1 else { return nil }
    // An absence for which the event was withdrawn stays: the event is restored by it.
    return try connection.execute(
      "delete from quake.absence where feed = $1 and withdrawn_at is null", [.text(feed)]
    ).affectedRows
  }

  /// In the caller's transaction, locks a feed and deletes its state and counted absences. Imports and events stay.
  ///
  /// - Returns: Whether there was such a feed.
  /// - Throws: `StoreError` of kind `locked` if a worker polls the feed; `PostgresError`.
  package static func forget(_ feed: String, over connection: Connection) throws -> Bool {
    let known = try connection.execute(
      "select holder_pid, holder_application from quake.feed_status where name = $1", [.text(feed)])
    guard known.rowCount == 1 else { return false }
    guard try FeedLock.acquire([feed], over: connection).count == 1 else {
      let holder = known.text(0, 1).map {
        " (\($0), server process \(known.text(0, 0) ?? "unknown"))"
      }
      throw StoreError(
        .locked, "cannot forget feed \"\(feed)\": a worker\(holder ?? "") polls it, or waits to",
        hint:
          "Stop that worker, or start it without this feed; \"quake-admin feeds pause\" only pauses it."
      )
    }
    try connection.execute(
      "delete from quake.absence where feed = $1 and withdrawn_at is null", [.text(feed)])
    try connection.execute("delete from quake.feed where name = $1", [.text(feed)])
    return true
  }

  /// The pauses of feeds, by name. A feed that has no state is missing.
  package static func pauses(
    of feeds: [String], over connection: Connection
  ) throws(PostgresError) -> [String: FeedPause?] {
    let rows = try connection.executePrepared(
      """
      select name, paused_by, (extract(epoch from paused_at) * 1000000)::bigint
        from quake.feed where name = any ($1::text[])
      """,
      [.array(feeds)])
    var pauses: [String: FeedPause?] = [:]
    for row in 0..<rows.rowCount {
      guard let name = rows.text(row, 0) else { continue }
      pauses.updateValue(
        FeedPause(by: rows.text(row, 1), since: rows.integer(row, 2)), forKey: name)
    }
    return pauses
  }

  /// Workers listen for requests to poll; the notification makes them read the pauses as well.
  private static func wakeWorkers(over connection: Connection) throws(PostgresError) {
    try connection.execute(
      "select pg_notify('quake_refresh', '') where pg_notification_queue_usage() < 0.25")
  }
}

/// Who has paused a feed, and when.
package struct FeedPause: Sendable, Equatable {
  /// The database role that paused it.
  package let role: String
  /// When.
  package let since: Timestamp

  /// A pause by `role`.
  package init(by role: String, since: Timestamp) {
    self.role = role
    self.since = since
  }

  /// A pause as the database has it; nil if the feed is not paused.
  ///
  /// - Parameter since: Microseconds since 1970-01-01T00:00:00Z.
  init?(by role: String?, since: Int64?) {
    guard let role, let since else { return nil }
    self.init(by: role, since: Timestamp(microseconds: since))
  }
}
