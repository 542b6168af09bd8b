internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The `from` and `where` clauses that select the events of a query, alias `q`, and their parameters.
struct EventQuerySQL {
  private(set) var parameters: [Parameter]
  private let source: String
  private var conditions: [String]
  /// The `limit` clause of a page.
  private(set) var limit = ""

  init(_ query: EventQuery, over connection: Connection) throws {
    let point = try query.asOf?.resolve(over: connection).description
    let feedTime = point == nil ? query.asOfFeed?.description : nil
    let past = point ?? feedTime
    let filter = HistoryConditions(onEventsOf: query.filter, firstParameter: past == nil ? 1 : 2)
    conditions = filter.event(alias: "q", isTable: past == nil)
    if let codes = query.codes { conditions.append(codes.condition(alias: "q")) }
    if query.filter.codes == nil, query.codes == nil {
      if !query.past.contains(.superseded) { conditions.append("q.superseded_by is null") }
      if query.past.isDisjoint(with: [.withdrawn, .deleted]) {
        conditions.append("q.withdrawn_at is null")
      }
    }
    source =
      if point != nil {
        "quake.as_of($1)"
      } else if feedTime != nil {
        "quake.as_of_feed($1)"
      } else {
        query.past.contains(.deleted) ? Self.withDeleted : "quake.quake"
      }
    parameters = (past.map { [Parameter.text($0)] } ?? []) + filter.parameters
    if let time = query.changedSince {
      let moment = place(.text(time.description), "timestamptz")
      conditions.append(
        """
        q.code in (select v.code from quake.change_transaction t
                     join quake.quake_version v on v.transaction_id = t.transaction_id
                    where t.at >= \(moment))
        """)
    }
  }

  /// The events, and those that were deleted and stay so, by whatever statement, as they were before; they count as
  /// withdrawn since.
  private static let withDeleted = """
    (select \(QuakeColumn.list(of: "q")) from quake.quake q
      union all
     select \(QuakeColumn.allCases.map {
       $0 == .withdrawnAt ? "coalesce(v.withdrawn_at, t.at)" : "v.\($0.name)"
     }.joined(separator: ", "))
       from quake.change_transaction t
       join quake.quake_version v on v.transaction_id = t.transaction_id
      where t.deleted > 0 and v.op = 'delete'
        and not exists (select from quake.quake_version l where l.code = v.code and l.id > v.id))
    """

  var text: String { "from \(source) q where \(HistoryConditions.all(conditions))" }

  /// The condition of earthquakes: events that their source calls nothing else. Sources without event types have
  /// earthquakes.
  static let isEarthquake =
    "(q.type is null or q.type = 'earthquake' or pg_catalog.lower(q.type) = 'earthquake')"

  /// Restricts the selection by a condition on `q`.
  mutating func restrict(_ condition: String) { conditions.append(condition) }

  /// Adds a parameter, and returns its placeholder in the statement.
  mutating func place(_ parameter: Parameter, _ type: String) -> String {
    parameters.append(parameter)
    return "$\(parameters.count)::\(type)"
  }

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
      conditions.append(cursor.condition(alias: "q", firstParameter: parameters.count + 1))
      parameters += cursor.parameters
    }
    if let limit = query.limit { self.limit = "limit \(limit &+ 1 > 0 ? limit + 1 : limit)" }
    if query.offset > 0 { limit += " offset \(query.offset)" }
    return total
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
