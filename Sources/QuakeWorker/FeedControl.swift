package import Postgres
package import QuakeModel

/// An operator's actions on feeds: pause, resume, reset and forget.
package enum FeedControl {
  package static func names(over connection: Connection) throws(PostgresError) -> [String] {
    try connection.rows("select name from quake.feed_status order by name", as: String.self)
  }

  /// Why no feed is known if this database is a region; nil if it is none.
  package static func refusalOfRegion(
    over connection: Connection
  ) throws(PostgresError) -> StoreError? {
    try connection.firstRow(
      "select name from quake.regional_database where is_here", as: String.self
    ).map {
      StoreError(
        .unknownFeed, "there is no feed at region \"\($0)\", which is a copy of its centre",
        hint: "Workers poll feeds at the centre: name its database.")
    }
  }

  /// Pauses a feed: no worker polls it until it is resumed. Workers learn of it by a notification, and read
  /// it before each poll.
  ///
  /// - Returns: The pause, and whether it is new; nil if there is no such feed.
  package static func pause(
    _ feed: String, over connection: Connection
  ) throws(PostgresError) -> (pause: FeedPause, isNew: Bool)? {
    let paused = try connection.firstRow(
      """
      with old as (select name, paused_at from quake.feed where name = \(feed) for update), new as (
        update quake.feed f
           set paused_at = coalesce(f.paused_at, clock_timestamp()),
               paused_by = coalesce(f.paused_by, session_user)
          from old where f.name = old.name
        returning f.paused_by, f.paused_at, old.paused_at is null as is_new)
      select * from new
      """, format: .binary, as: (String, Timestamp, Bool).self)
    guard let (role, since, isNew) = paused else { return nil }
    try wakeWorkers(over: connection)
    return (FeedPause(by: role, since: since), isNew)
  }

  /// Resumes a paused feed.
  ///
  /// - Returns: Whether it was paused; nil if there is no such feed.
  package static func resume(
    _ feed: String, over connection: Connection
  ) throws(PostgresError) -> Bool? {
    let wasPaused = try connection.firstRow(
      """
      with old as (select name, paused_at from quake.feed where name = \(feed) for update), new as (
        update quake.feed f set paused_at = null, paused_by = null
          from old where f.name = old.name
        returning old.paused_at is not null as was_paused)
      select * from new
      """, as: Bool.self)
    guard let wasPaused else { return nil }
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
    let reset = try connection.execute(
      """
      update quake.feed
         set etag = null, last_modified = null, fresh_until = null, next_due = null,
             reset_at = clock_timestamp()
       where name = \(feed)
      """)
    guard reset.affectedRows == 1 else { return nil }
    // An absence for which the event was withdrawn stays: the event is restored by it.
    return try connection.execute(
      "delete from quake.absence where feed = \(feed) and withdrawn_at is null"
    ).affectedRows
  }

  /// In the caller's transaction, locks a feed and deletes its state and counted absences. Imports and events stay.
  ///
  /// - Returns: Whether there was such a feed.
  /// - Throws: `StoreError` of kind `locked` if a worker polls the feed; `PostgresError`.
  package static func forget(_ feed: String, over connection: Connection) throws -> Bool {
    let known = try connection.firstRow(
      "select holder_pid, holder_application from quake.feed_status where name = \(feed)",
      as: (Int?, String?).self)
    guard let (processID, application) = known else { return false }
    guard try FeedLock.acquire([feed], over: connection).count == 1 else {
      let holder = application.map {
        " (\($0), server process \(processID.map { "\($0)" } ?? "unknown"))"
      }
      throw StoreError(
        .locked, "cannot forget feed \"\(feed)\": a worker\(holder ?? "") polls it, or waits to",
        hint:
          "Stop that worker, or start it without this feed; \"quake-admin feeds pause\" only pauses it."
      )
    }
    try connection.execute(
      "delete from quake.absence where feed = \(feed) and withdrawn_at is null")
    try connection.execute("delete from quake.feed where name = \(feed)")
    return true
  }

  /// The pauses of feeds, by name. A feed that has no state is missing.
  package static func pauses(
    of feeds: [String], over connection: Connection
  ) throws(PostgresError) -> [String: FeedPause?] {
    let rows = try connection.rows(
      "select name, paused_by, paused_at from quake.feed where name = any (\(feeds)::text[])",
      prepared: true, format: .binary, as: (String, String?, Timestamp?).self)
    var pauses: [String: FeedPause?] = [:]
    for (name, role, since) in rows {
      pauses.updateValue(FeedPause(by: role, since: since), forKey: name)
    }
    return pauses
  }

  /// Workers listen for requests to poll; the notification makes them read the pauses as well.
  private static func wakeWorkers(over connection: Connection) throws(PostgresError) {
    try connection.execute(
      "select pg_notify('quake_refresh', '') where pg_notification_queue_usage() < 0.25")
  }
}

package struct FeedPause: Sendable, Equatable {
  /// The database role that paused it.
  package let role: String
  package let since: Timestamp

  package init(by role: String, since: Timestamp) {
    self.role = role
    self.since = since
  }

  /// A pause as the database has it; nil if the feed is not paused.
  init?(by role: String?, since: Timestamp?) {
    guard let role, let since else { return nil }
    self.init(by: role, since: since)
  }
}
