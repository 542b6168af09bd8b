internal import Basics
package import Postgres

/// The advisory locks of feeds. The session that imports a feed also holds its lock, so that a lost
/// connection ends both. If a session whose role may not poll feeds holds a feed's lock, the feed gets
/// another lock.
package enum FeedLock {
  /// The session that polls a feed, as other sessions see it.
  package struct Holder: Sendable, Equatable {
    package let feed: String
    /// Process id of the session's server process.
    package let processID: Int
    /// Its condition, as far as this role can see it.
    package let condition: Condition
  }

  package enum Condition: Sendable, Equatable {
    /// It is working, or has recently sent a statement.
    case alive
    /// Its server process has been idle for longer than a living worker allows.
    case stalled
    /// It belongs to another role, whose sessions this role may not see.
    case hidden
  }

  /// The factor by which the idle limit is longer within a COPY, during which a snapshot is downloaded.
  private static let copyPatience = 20.0

  /// A feed whose lock the calling connection has taken.
  package struct Acquired: Sendable, Equatable {
    package let feed: String
    /// The session that held the feed's earlier lock although its role may not poll feeds; nil if there was
    /// none.
    package let displaced: ForeignSession?
  }

  /// A session that held a feed's lock although its role may not poll feeds.
  package struct ForeignSession: Sendable, Equatable {
    /// Process id of its server process; nil if a prepared transaction held the lock.
    package let processID: Int?
    /// Its role; nil if unknown.
    package let role: String?
  }

  /// Acquires the free locks of feeds in one statement, without waiting.
  ///
  /// - Returns: The feeds whose locks this connection now holds.
  package static func acquire(
    _ feeds: [String], over connection: Connection
  ) throws(PostgresError) -> [Acquired] {
    let acquired = try connection.rows(
      "select feed, foreign_pid, foreign_role from quake.feed_lock__take(\(feeds)::text[])",
      prepared: true, as: (String, Int?, String?).self)
    return acquired.map { feed, processID, role in
      let displaced = processID.map { ForeignSession(processID: $0 == 0 ? nil : $0, role: role) }
      return Acquired(feed: feed, displaced: displaced)
    }
  }

  /// Finds the sessions that hold the locks of feeds.
  ///
  /// - Parameter limit: The longest time that a living session is idle. Within a COPY, during which a session
  ///   sends no statements, the limit is 20 times as long.
  package static func holders(
    of feeds: [String], idleLimit limit: Duration, over connection: Connection
  ) throws(PostgresError) -> [Holder] {
    let holders = try connection.rows(
      """
      select s.name, s.holder_pid, a.state is null,
             a.state like 'idle%'
               and a.state_change < clock_timestamp() - make_interval(secs => \(limit.inSeconds))
             or a.state = 'active' and a.wait_event = 'ClientRead'
                and a.state_change
                    < clock_timestamp() - make_interval(secs => \(limit.inSeconds * copyPatience))
        from quake.feed_status s join pg_stat_activity a on a.pid = s.holder_pid
       where s.name = any (\(feeds)::text[]) and s.holder_pid <> pg_backend_pid()
      """, prepared: true, as: (String, Int, Bool, Bool?).self)
    return holders.map { feed, processID, isHidden, isStalled in
      Holder(
        feed: feed, processID: processID,
        condition: isHidden ? .hidden : isStalled == true ? .stalled : .alive)
    }
  }

  /// Ends the session of a holder. Its uncommitted work is rolled back, and its program gets an error when it
  /// next uses the connection.
  ///
  /// - Throws: `PostgresError` with SQLSTATE 42501 if this role may not.
  package static func end(_ holder: Holder, over connection: Connection) throws(PostgresError) {
    try connection.execute("select pg_terminate_backend(\(holder.processID)::integer)")
  }
}
