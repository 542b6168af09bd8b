public import Postgres

/// Events that were missing from enough good snapshots to be withdrawn, where somebody is to be asked
/// first.
public struct Absences {
  /// An event that is missing.
  public struct Event: Sendable {
    /// Its code.
    public let code: String
    /// Address of its detail feed; nil: not known.
    public let detail: String?
  }

  private let connection: Connection

  /// Those of the store that `connection` leads to.
  public init(connection: Connection) {
    self.connection = connection
  }

  /// The events that a feed lacked in so many good snapshots, one after the other, but for those that
  /// could not be told of minutes ago.
  public func missing(
    from feed: String, times: Int, limit: Int64
  ) throws(PostgresError) -> [Event] {
    let rows = try connection.execute(
      """
      select q.code, q.detail from quake.absence a join quake.quake q on q.code = a.code
       where a.feed = $1 and a.snapshots >= $2
         and q.withdrawn_at is null and q.superseded_by is null
         and (a.asked_at is null or a.asked_at < clock_timestamp() - interval '10 minutes')
       order by a.asked_at nulls first, a.since, q.code limit $3
      """, [.text(feed), .integer(Int64(times)), .integer(limit)])
    return (0..<rows.rowCount).map { Event(code: rows.text($0, 0) ?? "", detail: rows.text($0, 1)) }
  }

  /// Withdraws an event that its catalogue says it has deleted.
  ///
  /// - Parameters:
  ///   - author: Author of the change in the history.
  ///   - context: Its context.
  public func withdraw(_ event: Event, author: String, context: String) throws {
    try connection.transaction {
      try connection.execute(
        "select set_config('quake.author', $1, true), set_config('quake.context', $2, true)",
        [.text(author), .text(context)])
      // As the import does it, so that an import can take it back.
      try connection.execute(
        """
        with withdrawn as (
          update quake.quake q set status = 'deleted', withdrawn_at = a.at, as_of = a.at
            from (select date_trunc('milliseconds', clock_timestamp()) as at) a
           where q.code = $1 and q.withdrawn_at is null
          returning q.code, q.withdrawn_at
        )
        update quake.absence a set withdrawn_at = w.withdrawn_at from withdrawn w where a.code = w.code
        """, [.text(event.code)])
    }
  }

  /// An event of which its page did not tell: others come first now.
  public func postpone(_ event: Event) throws {
    try connection.execute(
      "update quake.absence set asked_at = clock_timestamp() where code = $1", [.text(event.code)])
  }

  /// An event that is there after all: its absence begins to count anew.
  public func forget(_ event: Event) throws {
    try connection.execute("delete from quake.absence where code = $1", [.text(event.code)])
  }
}
