public import Postgres
public import QuakeModel

/// The list of events, as it is or as it was.
public enum EventList {
  /// Reads the list, newest origin time first. It is that of one moment; as long as `body` takes, the
  /// server keeps that.
  ///
  /// - Parameters:
  ///   - place: Where in the history; nil: now.
  ///   - filter: What of it; only the conditions on events count.
  ///   - limit: At most so many, from 1; nil: all.
  ///   - body: Gets each event.
  /// - Throws: `StoreError` of kind `token` if the place is not in this history, or no longer.
  public static func read(
    asOf place: HistoryBound? = nil, filter: QuakeFilter = QuakeFilter(), limit: Int64? = nil,
    over connection: Connection, _ body: (QuakeRecord) throws -> Void
  ) throws {
    let token = try place?.resolve(over: connection)
    let conditions = HistoryConditions(onEventsOf: filter, firstParameter: token == nil ? 1 : 2)
    let statement = SQL(
      trusted: """
        select \(ChangeRow.eventColumns(of: "q"))
          from \(token == nil ? "quake.quake" : "quake.as_of($1)") q
         where \(HistoryConditions.all(conditions.event(alias: "q")))
         order by q.time desc, q.code \(limit.map { "limit \($0)" } ?? "")
        """)
    let parameters = (token.map { [Parameter.text("\($0)")] } ?? []) + conditions.parameters
    do {
      try connection.stream(statement, parameters) { rows in
        for row in 0..<rows.rowCount { try body(rows.record(row, firstColumn: 0)) }
      }
    } catch let error as PostgresError {
      throw StoreError(token: error) ?? error
    }
  }
}
