public import Postgres
public import QuakeModel

/// The list of events, now or as of a point of the history.
public enum EventList {
  /// Events that do not represent an earthquake now.
  public struct Past: OptionSet, Sendable {
    /// Those that are superseded by another row.
    public static let superseded = Past(rawValue: 1)
    /// Those that feeds which should hold them lack.
    public static let withdrawn = Past(rawValue: 2)

    /// The bits.
    public let rawValue: Int

    /// A set of the given bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }
  }

  /// Counts the events that `read` would return.
  ///
  /// - Throws: `StoreError` of kind `token` if the point is not in this history, or no longer.
  public static func count(
    asOf point: HistoryBound? = nil, filter: QuakeFilter = QuakeFilter(), with past: Past = [],
    over connection: Connection
  ) throws -> Int64 {
    let selection = try Selection(point, filter, past, connection)
    do {
      return try connection.execute(
        SQL(trusted: "select count(*) \(selection.text)"), selection.parameters
      ).integer(0, 0) ?? 0
    } catch {
      throw StoreError(token: error) ?? error
    }
  }

  /// Reads the list, newest origin time first. It is that of one moment: the server keeps its snapshot until
  /// `body` has had the last.
  ///
  /// - Parameters:
  ///   - point: The point of the history; nil: now.
  ///   - filter: Which events; only its conditions on events count.
  ///   - past: Which events to include that do not represent an earthquake now. Those whose code the filter
  ///     names are always included.
  ///   - limit: The greatest number of events, from 1; nil: all.
  ///   - body: Gets each event.
  /// - Throws: `StoreError` of kind `token` if the point is not in this history, or no longer.
  public static func read(
    asOf point: HistoryBound? = nil, filter: QuakeFilter = QuakeFilter(), with past: Past = [],
    limit: Int64? = nil, over connection: Connection, _ body: (QuakeRecord) throws -> Void
  ) throws {
    let selection = try Selection(point, filter, past, connection)
    let statement = SQL(
      trusted: """
        select \(QuakeColumn.list(of: "q")) \(selection.text)
         order by q.time desc, q.code \(limit.map { "limit \($0)" } ?? "")
        """)
    do {
      try connection.stream(statement, selection.parameters) { rows in
        for row in 0..<rows.rowCount { try body(try rows.record(row, firstColumn: 0)) }
      }
    } catch let error as PostgresError {
      throw StoreError(token: error) ?? error
    }
  }

  /// The `from` and `where` clauses that select the events.
  private struct Selection {
    let text: String
    let parameters: [Parameter]

    init(
      _ point: HistoryBound?, _ filter: QuakeFilter, _ past: Past, _ connection: Connection
    ) throws {
      let token = try point?.resolve(over: connection)
      let conditions = HistoryConditions(onEventsOf: filter, firstParameter: token == nil ? 1 : 2)
      var all = conditions.event(alias: "q")
      if filter.codes == nil {
        if !past.contains(.superseded) { all.append("q.superseded_by is null") }
        if !past.contains(.withdrawn) { all.append("q.withdrawn_at is null") }
      }
      text = """
        from \(token == nil ? "quake.quake" : "quake.as_of($1)") q
         where \(HistoryConditions.all(all))
        """
      parameters = (token.map { [Parameter.text("\($0)")] } ?? []) + conditions.parameters
    }
  }
}
