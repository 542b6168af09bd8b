public import Postgres

/// The advisory locks under which feeds are polled: each by one session at a time, the one that imports
/// it, so that a lost connection loses both.
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

  /// Tries for the locks of feeds, without waiting, in one statement.
  ///
  /// - Returns: Those that are now held over this connection.
  public static func take(
    _ feeds: [String], over connection: Connection
  ) throws(PostgresError) -> [String] {
    // The first key is 'quak' in ASCII.
    let result = try connection.executePrepared(
      """
      select name from unnest($1::text[]) f (name)
       where pg_try_advisory_lock(1903518059, quake.feed_lock_key(name))
      """, [.array(feeds)])
    return (0..<result.rowCount).compactMap { result.text($0, 0) }
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
