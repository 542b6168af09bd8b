public import Postgres
internal import QuakeAssociation

/// Events that enough good snapshots lack for them to be withdrawn, if each event's own page is asked first.
public struct Absences {
  /// An event that is missing.
  public struct Event: Sendable {
    /// Its code.
    public let code: String
    /// Address of its detail feed; nil: not known.
    public let detail: String?
  }

  private let connection: Connection

  /// The absences in the database of `connection`.
  public init(connection: Connection) {
    self.connection = connection
  }

  private static let missing = SQL(
    trusted: """
      select q.code, q.detail from quake.absence a join quake.quake q on q.code = a.code
       where a.feed = $1 and a.snapshots >= $2
         and q.withdrawn_at is null and \(AssociationStatements.isOwn("q"))
         and (a.asked_at is null or a.asked_at < clock_timestamp() - interval '10 minutes')
       order by a.asked_at nulls first, a.since, q.code limit $3
      """)

  /// The events that a feed lacked in at least `times` good snapshots, one after the other, without those
  /// that were postponed minutes ago.
  public func missing(
    from feed: String, times: Int, limit: Int64
  ) throws(PostgresError) -> [Event] {
    let rows = try connection.execute(
      Self.missing, [.text(feed), .integer(Int64(times)), .integer(limit)])
    return (0..<rows.rowCount).map { Event(code: rows.text($0, 0) ?? "", detail: rows.text($0, 1)) }
  }

  /// Withdraws an event that was deleted from its catalogue.
  ///
  /// - Parameters:
  ///   - author: Author of the change in the history.
  ///   - context: Its context.
  public func withdraw(_ event: Event, author: String, context: String) throws {
    try connection.transaction {
      try connection.execute(
        "select set_config('quake.author', $1, true), set_config('quake.context', $2, true)",
        [.text(author), .text(context)])
      // The same as an import does, so that an import can restore the event.
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
    try Associations(connection: connection, author: author).updateAfterChange()
  }

  /// Postpones an event whose page did not answer: others come first.
  public func postpone(_ event: Event) throws {
    try connection.execute(
      "update quake.absence set asked_at = clock_timestamp() where code = $1", [.text(event.code)])
  }

  /// Deletes the absence of an event that exists after all, so that counting begins anew.
  public func forget(_ event: Event) throws {
    try connection.execute("delete from quake.absence where code = $1", [.text(event.code)])
  }
}
