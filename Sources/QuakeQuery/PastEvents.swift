internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The part of an earlier state of the list that a query needs: `quake.as_of` finds it in a long history without
/// reading all of it.
struct PastEvents {
  private let point: ChangeToken
  /// The origin times from which on, and before which, it has events.
  private var earliest, end: Timestamp?
  private let cells: SQL

  /// The greatest number of events of a page that is looked for window by window.
  private static let mostEvents: Int64 = 100_000

  /// - Parameters:
  ///   - point: The token of the state.
  ///   - filter: The filter whose events are wanted.
  ///   - cells: Lists of the cells of the map in which they are, each null or complete.
  init(at point: ChangeToken, _ filter: EventFilter, in cells: [SQL]) {
    self.point = point
    (earliest, end) = (filter.earliestTime, filter.endTime)
    self.cells = cells.isEmpty ? "null" : "coalesce(\(sql: cells.joined(separator: ", ")))"
  }

  /// The call that has the events.
  var source: SQL {
    """
    quake.as_of(\(point), \(earliest)::timestamptz, \(end)::timestamptz, (\(sql: cells))::integer[])
    """
  }

  /// Omits events that are older than those of a page of the newest events.
  ///
  /// Each window begins where about four times as many events as in the one before are.
  ///
  /// - Parameters:
  ///   - query: A query in any order; only one with a limit whose first order is the newest first is narrowed.
  ///   - conditions: The conditions on events, alias `q`, also that they come after the query's cursor.
  mutating func narrow(
    toPageOf query: EventQuery, where conditions: [SQL], over connection: Connection
  ) throws {
    guard query.order.first == .newestFirst, let limit = query.limit, limit < Self.mostEvents,
      query.offset < Self.mostEvents
    else { return }
    if case .timestamp(let last)? = query.after?.values.first {
      let next = Timestamp(microseconds: last.microseconds + 1)
      end = min(next, end ?? next)
    }
    var wanted = limit + 1 + query.offset
    var size = wanted
    var window = self
    while true {
      let start = try connection.row(
        "select quake.as_of__window(\(point), \(window.end)::timestamptz, \(size))",
        as: Timestamp?.self)
      guard let start, earliest.map({ start > $0 }) ?? true else { return }
      window.earliest = start
      wanted -= try connection.row(
        """
        select count(*) from (
          select from \(sql: window.source) q where \(sql: HistoryConditions.all(conditions)) limit \(wanted)) f
        """, as: Int64.self)
      guard wanted > 0 else {
        earliest = start
        return
      }
      window.end = start
      size *= 4
    }
  }
}
