public import Postgres
public import QuakeModel

/// The list of events, as it is or as it was.
public enum EventList {
  /// Events that do not stand for an earthquake now.
  public struct Past: OptionSet, Sendable {
    /// Those that another row stands for.
    public static let superseded = Past(rawValue: 1)
    /// Those that are missing from feeds that should hold them.
    public static let withdrawn = Past(rawValue: 2)

    /// The bits.
    public let rawValue: Int

    /// A set of the given bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }
  }

  /// Counts the events that `read` would give.
  ///
  /// - Throws: `StoreError` of kind `token` if the place is not in this history, or no longer.
  public static func count(
    asOf place: HistoryBound? = nil, filter: QuakeFilter = QuakeFilter(), with past: Past = [],
    over connection: Connection
  ) throws -> Int64 {
    let selection = try Selection(place, filter, past, connection)
    do {
      return try connection.execute(
        SQL(trusted: "select count(*) \(selection.text)"), selection.parameters
      ).integer(0, 0) ?? 0
    } catch {
      throw StoreError(token: error) ?? error
    }
  }

  /// Reads the list, newest origin time first. It is that of one moment; as long as `body` takes, the
  /// server keeps that.
  ///
  /// - Parameters:
  ///   - place: Where in the history; nil: now.
  ///   - filter: What of it; only the conditions on events count.
  ///   - past: Which events are given too that do not stand for an earthquake now. Those of a code
  ///     that the filter names always are.
  ///   - limit: At most so many, from 1; nil: all.
  ///   - body: Gets each event.
  /// - Throws: `StoreError` of kind `token` if the place is not in this history, or no longer.
  public static func read(
    asOf place: HistoryBound? = nil, filter: QuakeFilter = QuakeFilter(), with past: Past = [],
    limit: Int64? = nil, over connection: Connection, _ body: (QuakeRecord) throws -> Void
  ) throws {
    let selection = try Selection(place, filter, past, connection)
    let statement = SQL(
      trusted: """
        select \(ChangeRow.eventColumns(of: "q")) \(selection.text)
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

  /// Where the events come from, and which they are: the end of a query.
  private struct Selection {
    let text: String
    let parameters: [Parameter]

    init(
      _ place: HistoryBound?, _ filter: QuakeFilter, _ past: Past, _ connection: Connection
    ) throws {
      let token = try place?.resolve(over: connection)
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
