public import Postgres
internal import SystemClock

/// The advisory locks under which feeds are polled: each by one session at a time, the one that imports
/// it, so that a lost connection loses both. Only sessions of roles that may poll feeds count: the lock
/// of any other is left to it, and the feed gets another.
public enum FeedLock {
  /// The session that polls a feed, as the others see it.
  public struct Holder: Sendable, Equatable {
    /// The feed.
    public let feed: String
    /// Process id of the session's server process.
    public let processID: Int
    /// What is known of it.
    public let condition: Condition
  }

  /// What is known of a session that polls a feed.
  public enum Condition: Sendable, Equatable {
    /// It works, or has shown life lately.
    case alive
    /// Its server process has been waiting for it for longer than any session that lives lets it.
    case stalled
    /// It is another role's, which keeps its state from us.
    case hidden
  }

  /// A snapshot may take so many times longer to come than a session may be idle.
  private static let copyPatience = 20.0

  /// A feed whose lock the calling connection has taken.
  public struct Taken: Sendable, Equatable {
    /// The feed.
    public let feed: String
    /// The session of a role that may not poll feeds, which held the lock that the feed had until then;
    /// nil: none did.
    public let displaced: ForeignSession?
  }

  /// A session that held a feed's lock, of a role that may not poll feeds.
  public struct ForeignSession: Sendable, Equatable {
    /// Process id of its server process; nil: a prepared transaction held the lock.
    public let processID: Int?
    /// Its role; nil: it is not known.
    public let role: String?
  }

  /// Tries for the locks of feeds, without waiting, in one statement.
  ///
  /// - Returns: Those that are now held over this connection.
  public static func take(
    _ feeds: [String], over connection: Connection
  ) throws(PostgresError) -> [Taken] {
    let result = try connection.executePrepared(
      "select feed, foreign_pid, foreign_role from quake.feed_lock__take($1::text[])",
      [.array(feeds)])
    return (0..<result.rowCount).map { row in
      let displaced = result.integer(row, 1).map { processID in
        ForeignSession(
          processID: processID == 0 ? nil : Int(processID), role: result.text(row, 2))
      }
      return Taken(feed: result.text(row, 0) ?? "", displaced: displaced)
    }
  }

  /// Looks at the sessions that hold the locks of feeds.
  ///
  /// - Parameter limit: How long a session that lives may be idle. Within a COPY, where it shows no
  ///   life, it is 20 times as long.
  public static func holders(
    of feeds: [String], idleLimit limit: Duration, over connection: Connection
  ) throws(PostgresError) -> [Holder] {
    let result = try connection.executePrepared(
      """
      select s.name, s.holder_pid, a.state is null,
             a.state like 'idle%' and a.state_change < clock_timestamp() - make_interval(secs => $2)
             or a.state = 'active' and a.wait_event = 'ClientRead'
                and a.state_change < clock_timestamp() - make_interval(secs => $3)
        from quake.feed_status s join pg_stat_activity a on a.pid = s.holder_pid
       where s.name = any ($1::text[]) and s.holder_pid <> pg_backend_pid()
      """,
      [.array(feeds), .double(limit.inSeconds), .double(limit.inSeconds * copyPatience)])
    return (0..<result.rowCount).map { row in
      Holder(
        feed: result.text(row, 0) ?? "", processID: Int(result.integer(row, 1) ?? 0),
        condition: result.bool(row, 2) == true
          ? .hidden : result.bool(row, 3) == true ? .stalled : .alive)
    }
  }

  /// Ends the session of a holder. What it has not committed is undone, and its program is told when it
  /// next uses the connection.
  ///
  /// - Throws: `PostgresError` with SQLSTATE 42501 if this role may not.
  public static func end(_ holder: Holder, over connection: Connection) throws(PostgresError) {
    try connection.execute(
      "select pg_terminate_backend($1::integer)", [.integer(Int64(holder.processID))])
  }
}
