internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The `from` and `where` clauses that select the events of a query, alias `q`.
struct EventQuerySQL {
  private let source: SQL
  /// The part of an earlier state that takes the place of `source`; nil: the query is about another state.
  private var past: PastEvents?
  private var conditions: [SQL]
  /// The `limit` clause of a page.
  private(set) var limit: SQL = ""

  init(_ query: EventQuery, over connection: Connection) throws {
    let filter = HistoryConditions(onEventsOf: query.filter)
    if let point = try query.asOf?.resolve(over: connection) {
      past = PastEvents(
        at: point, query.filter, in: filter.cells, codes: filter.codeList ?? query.codes?.list)
      source = ""
    } else if let time = query.asOfFeed {
      source = "quake.as_of_feed(\(time))"
    } else {
      source = query.past.contains(.deleted) ? Self.withDeleted : "quake.quake"
    }
    let isNow = query.asOf == nil && query.asOfFeed == nil
    conditions = filter.event(alias: "q", isTable: isNow)
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

  /// Restricts the selection by a condition on `q`.
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
    var past = past
    try asking { try past?.narrow(toPageOf: query, where: conditions, over: connection) }
    self.past = past
  }

  /// Runs `body`; the server's errors about tokens become `StoreError`.
  func asking<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as PostgresError {
      throw StoreError(token: error) ?? error
    }
  }
}
