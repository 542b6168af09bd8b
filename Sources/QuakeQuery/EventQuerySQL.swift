internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The `from` and `where` clauses that select the events of a query, alias `q`.
struct EventQuerySQL {
  private let source: SQL
  /// The part of an earlier state that takes the place of `source`; nil: the query is about another state.
  private var past: PastEvents?
  private var conditions: [SQL]
  private(set) var limit: SQL = ""

  /// - Parameter readsAll: Whether the statement reads all of the events, in whatever order.
  init(_ query: EventQuery, readsAll: Bool = false, over connection: Connection) throws {
    try query.check()
    let isNow = query.asOf == nil && query.asOfFeed == nil
    let window = isNow && readsAll ? Self.window(of: query.filter) : nil
    var rest = query.filter
    if window != nil { (rest.earliestTime, rest.endTime) = (nil, nil) }
    let filter = HistoryConditions(onEventsOf: rest)
    if let point = try query.asOf?.resolve(over: connection) {
      past = PastEvents(
        at: point, query.filter, in: filter.cells, codes: filter.codeList ?? query.codes?.list)
      source = ""
    } else if let time = query.asOfFeed {
      source = "quake.as_of_feed(\(time))"
    } else {
      source = query.past.contains(.deleted) ? Self.withDeleted : "quake.quake"
    }
    conditions = filter.event(alias: "q", isTable: isNow)
    if let window { conditions.append(window) }
    if let codes = query.codes { conditions.append(codes.condition(alias: "q")) }
    if query.filter.codes == nil, query.codes == nil {
      if !query.past.contains(.superseded) { conditions.append("q.superseded_by is null") }
      if query.past.isDisjoint(with: [.withdrawn, .deleted]) {
        conditions.append("q.withdrawn_at is null")
      }
    }
    if let time = query.changedSince {
      conditions.append(
        """
        q.code in (select v.code from quake.change_transaction t
                     join quake.quake_version v on v.transaction_id = t.transaction_id
                    where t.at >= \(time)::timestamptz)
        """)
    }
  }

  /// The condition that the origin time is in a filter's window of about a month, in two halves, which only a bitmap scan
  /// joins; nil: the window is another one.
  ///
  /// The planner takes a plain index scan for one pass over the table, because the order of the table is nearly that of
  /// origin times. But events are revised for months, and in a history of years the blocks of a month are thousands,
  /// among those of the months after it: one by one from the disk they take three times as long as in their order.
  /// A day is read faster by the index, and a year would be a scan of the whole table.
  private static func window(of filter: EventFilter) -> SQL? {
    guard let start = filter.earliestTime, let end = filter.endTime else { return nil }
    let length = end.microseconds.subtractingReportingOverflow(start.microseconds)
    guard !length.overflow, aboutAMonth.contains(length.partialValue) else { return nil }
    let middle = Timestamp(microseconds: start.microseconds + length.partialValue / 2)
    return """
      (q.time >= \(start)::timestamptz and q.time < \(middle)::timestamptz
       or q.time >= \(middle)::timestamptz and q.time < \(end)::timestamptz)
      """
  }

  /// 20 to 40 days, in microseconds.
  private static let aboutAMonth: ClosedRange<Int64> = 20 * 86_400_000_000...40 * 86_400_000_000

  /// The events, and those that were deleted and stay so, by whatever statement, as they were before; they count as
  /// withdrawn since.
  private static let withDeleted: SQL = {
    let last = EventColumn.allCases.map { column -> SQL in
      column == .withdrawnAt
        ? "coalesce(v.withdrawn_at, t.at)" : "v.\(identifier: column.name)"
    }
    return """
      (select \(sql: EventColumn.list(of: "q" as SQL)) from quake.quake q
        union all
       select \(sql: last.joined(separator: ", "))
         from quake.change_transaction t
         join quake.quake_version v on v.transaction_id = t.transaction_id
        where t.deleted > 0 and v.op = 'delete'
          and not exists (select from quake.quake_version l where l.code = v.code and l.id > v.id))
      """
  }()

  var text: SQL {
    "from \(sql: past?.source ?? source) q where \(sql: HistoryConditions.all(conditions))"
  }

  /// The condition of earthquakes: events that their source calls nothing else. Sources without event types have
  /// earthquakes.
  static let isEarthquake: SQL =
    "(q.type is null or q.type = 'earthquake' or pg_catalog.lower(q.type) = 'earthquake')"

  mutating func restrict(_ condition: SQL) { conditions.append(condition) }

  /// Restricts the selection to a page, and returns its order.
  mutating func addPage(of query: EventQuery) throws -> [EventOrder] {
    let total = EventOrder.total(query.order)
    if let cursor = query.after {
      guard cursor.order == total else {
        throw StoreError(
          .badData, "the cursor belongs to a list in another order",
          detail: "That list is ordered by \(cursor.order.map { "\($0)" }.joined(separator: ",")).",
          hint: "Use a cursor with the order of the page that it came from.")
      }
      conditions.append(cursor.condition(alias: "q"))
    }
    // Constants, so that the planner knows them also where a statement has no plan of its own.
    if let limit = query.limit {
      self.limit = SQL(trusted: "limit \(limit &+ 1 > 0 ? limit + 1 : limit)")
    }
    if query.offset > 0 { limit += SQL(trusted: " offset \(query.offset)") }
    return total
  }

  /// Looks only at the end of an earlier state that has the page.
  mutating func findPage(of query: EventQuery, over connection: Connection) throws {
    try StoreError.ofTokens {
      try past?.narrow(toPageOf: query, where: conditions, over: connection)
    }
  }
}
