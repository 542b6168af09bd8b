package import Postgres
internal import QuakeHistory
public import QuakeModel

/// Events with the same value of a key, counted, and what is known of a column of them.
public struct EventGroup: Hashable, Sendable {
  /// The value of the key; nil: the events have none.
  public let key: EventKey.Value?
  /// The number of events, and the values of a column.
  public let summary: EventSummary
  /// The number of events of this class of the magnitude and above; nil: the key is another one, or the events
  /// have no magnitude.
  public let cumulative: Int64?
}

extension EventQuery {
  /// The columns with numbers, which can be averaged.
  package static let numericColumns = EventColumn.allCases.filter { column in
    switch column.kind {
    case .float8, .int4, .int2: true
    case .text, .timestamp, .bool: false
    }
  }

  private static func checkNumbers(of column: EventColumn) throws(StoreError) {
    guard !numericColumns.contains(column) else { return }
    throw StoreError(
      .usage, "column \"\(column.name)\" has no numbers to summarise",
      hint: "The columns with numbers: \(numericColumns.map(\.name).joined(separator: ", ")).")
  }

  /// Whether statistics count only the earthquakes of the query: unless it names event types.
  ///
  /// - Parameter everyType: Whether the user asks for events of every type.
  private func countsOnlyEarthquakes(_ everyType: Bool) -> Bool {
    !everyType && filter.types == nil
  }

  /// How many events of the query `groups` leaves out because they are no earthquakes.
  ///
  /// - Throws: As `groups`.
  package func otherEvents(
    by key: EventKey, everyType: Bool, over connection: Connection
  ) throws -> Int64 {
    guard key != .type, countsOnlyEarthquakes(everyType) else { return 0 }
    var selection = try EventQuerySQL(self, readsAll: true, over: connection)
    selection.restrict("not \(sql: EventQuerySQL.isEarthquake)")
    return try StoreError.ofTokens {
      try connection.row("select count(*) \(sql: selection.text)", as: Int64.self)
    }
  }

  /// Groups the events by a key. The query's order, columns and `after` do not count. Only earthquakes count,
  /// unless the query names event types or the key is the type.
  ///
  /// - Parameters:
  ///   - key: What to group by.
  ///   - column: The column with numbers to summarise.
  ///   - everyType: Whether events of every type count.
  ///   - body: Gets each group, at most `limit`: those of days, hours, months and magnitudes in ascending
  ///     order, others the largest first. Events without a value of the key come last or by their number.
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer; of kind `usage` if the
  ///   column has no numbers or the classes have no width.
  package func groups(
    by key: EventKey, of column: EventColumn = .magnitude, everyType: Bool = false,
    over connection: Connection,
    _ body: (EventGroup) throws -> Void
  ) throws {
    try Self.checkNumbers(of: column)
    try key.check()
    var selection = try EventQuerySQL(self, readsAll: true, over: connection)
    if key != .type, countsOnlyEarthquakes(everyType) {
      selection.restrict(EventQuerySQL.isEarthquake)
    }
    let cumulative: SQL =
      if case .magnitude = key {
        "case when g.key is not null then (sum(g.count) over (order by g.key desc nulls last))::int8 end"
      } else {
        "null::int8"
      }
    let order: SQL = key.hasNaturalOrder ? "g.key nulls last" : "g.count desc, g.key nulls last"
    try StoreError.ofTokens {
      try connection.forEachRow(
        """
        select g.key, g.count, g.known, g.average, g.minimum, g.maximum, g.energy, g.moment,
               \(sql: cumulative) as cumulative
          from (select \(sql: key.expression(alias: "q")) as key, \(sql: Self.summaries(of: column))
                  \(sql: selection.text) group by 1) g
         order by \(sql: order) limit \(limit)
        """, format: .binary
      ) { row in
        try body(
          EventGroup(
            key: try Self.value(of: key, row), summary: try Self.summary(row),
            cumulative: try row["cumulative"]))
      }
    }
  }

  /// Figures about all events of the query. Its order, columns, `after` and `limit` do not count. Only
  /// earthquakes count, unless the query names event types.
  ///
  /// - Parameters:
  ///   - column: The column with numbers to summarise.
  ///   - completeness: How the magnitude of completeness for the b-value is found.
  ///   - everyType: Whether events of every type count.
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer; of kind `usage` if the
  ///   column has no numbers.
  package func statistics(
    of column: EventColumn = .magnitude, completeness: BValue.Completeness = .maximumCurvature,
    everyType: Bool = false, over connection: Connection
  ) throws -> EventStatistics {
    try Self.checkNumbers(of: column)
    let selection = try EventQuerySQL(self, readsAll: true, over: connection)
    var magnitude: Double?
    if case .magnitude(let value) = completeness { magnitude = value }
    let method = magnitude == nil ? completeness : .maximumCurvature
    var (events, isCounted): (SQL, SQL?) = (selection.text, nil)
    if countsOnlyEarthquakes(everyType) {
      isCounted = "q.is_counted"
      // The offset keeps the planner from evaluating the condition for each of the aggregates.
      let value: SQL = column == .magnitude ? "" : "q.\(identifier: column.name), "
      events = """
        from (select q.magnitude, \(sql: value)\(sql: EventQuerySQL.isEarthquake) as is_counted
                \(sql: selection.text) offset 0) q
        """
    }
    return try StoreError.ofTokens {
      try connection.row(
        """
        select s.count, s.known, s.average, s.minimum, s.maximum, s.energy, s.moment, s.others,
               b.completeness_magnitude, b.events, b.mean_magnitude, b.b, b.standard_error,
               b.refusal, b.refused_b, b.other_magnitude, b.other_b, b.steady_from
          from (select \(sql: Self.summaries(of: column, where: isCounted)),
                       count(*) filter (where not \(sql: isCounted ?? "true")) as others,
                       pg_catalog.array_agg(q.magnitude) filter (where \(sql: isCounted ?? "true"))
                         as magnitudes
                \(sql: events)) s
          left join lateral quake.gutenberg_richter(
                      s.magnitudes, \(magnitude)::float8, \(method.name)::text) b on true
        """, format: .binary
      ) { row throws(PostgresError) in
        var bValue: BValue?
        // The function has no row if there is no magnitude.
        if let events: Int64 = try row["events"] {
          bValue = BValue(
            completeness: try row["completeness_magnitude"], method: completeness, events: events,
            mean: try row["mean_magnitude"], b: try row["b"],
            standardError: try row["standard_error"], refusal: try Self.refusal(row))
        }
        return EventStatistics(
          summary: try Self.summary(row), bValue: bValue, otherEvents: try row["others"])
      }
    }
  }

  /// The events in sections: ordered by a key, and within its values by the query's order. The query's `limit`
  /// counts events; `after` does not count.
  ///
  /// - Parameter key: What to make sections of: times and magnitudes in descending order, others in the order
  ///   of the database's collation.
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer; of kind `usage` if the
  ///   classes of the key have no width.
  package func sections(by key: EventKey, over connection: Connection) throws -> [EventSection] {
    try key.check()
    var query = self
    query.after = nil
    let selection = try EventQuerySQL(query, over: connection)
    let rows = EventRows(columns: columns)
    let order = EventOrder.total(order).map { $0.clause(alias: "q") }.joined(separator: ", ")
    let direction: SQL = key.hasNaturalOrder ? "desc" : ""
    let statement: SQL = """
      select \(sql: rows.list(of: "q")), \(sql: key.expression(alias: "q")) as key
        \(sql: selection.text)
       order by key \(sql: direction) nulls last, \(sql: order) limit \(limit)
      """
    var sections: [EventSection] = []
    var events: [EventRecord] = []
    var current: EventKey.Value?
    func end() {
      if !events.isEmpty { sections.append(EventSection(key: current, events: events)) }
      events = []
    }
    try StoreError.ofTokens {
      try rows.read(statement, over: connection) { event, rest in
        let value = Self.value(of: key, rest)
        if !Self.isSame(value, current) { end() }
        current = value
        events.append(event)
      }
    }
    end()
    return sections
  }

  /// Whether two values of a key are the same for the server, which compares texts byte by byte.
  private static func isSame(_ one: EventKey.Value?, _ other: EventKey.Value?) -> Bool {
    if case .text(let one)? = one, case .text(let other)? = other {
      return one.utf8.elementsEqual(other.utf8)
    }
    return one == other
  }

  private static func refusal(
    _ row: borrowing SQLRow
  ) throws(PostgresError) -> BValue.Refusal? {
    let refusal: String? = try row["refusal"]
    switch refusal {
    case nil: return nil
    case "one-class": return .oneClass
    case "no-stable-cutoff": return .noStableCutoff
    case "depends-on-cutoff":
      return .dependsOnCutoff(
        b: try row["refused_b"] ?? .nan, from: try row["other_magnitude"] ?? .nan,
        other: try row["other_b"] ?? .nan, steady: try row["steady_from"])
    default: return .fewEvents
    }
  }

  /// - Parameter condition: Which events count; nil: all.
  private static func summaries(of column: EventColumn, where condition: SQL? = nil) -> SQL {
    let value: SQL = "q.\(identifier: column.name)::float8"
    let filter: SQL = condition.map { "filter (where \(sql: $0))" } ?? ""
    let aggregates: [(SQL, SQL)] = [
      ("count(*)", "count"), ("count(\(sql: value))", "known"), ("avg(\(sql: value))", "average"),
      ("min(\(sql: value))", "minimum"), ("max(\(sql: value))", "maximum"),
      ("sum(quake.energy(q.magnitude))", "energy"), ("sum(quake.moment(q.magnitude))", "moment"),
    ]
    return aggregates.map { aggregate, name -> SQL in
      "\(sql: aggregate) \(sql: filter) as \(sql: name)"
    }.joined(separator: ", ")
  }

  private static func summary(_ row: borrowing SQLRow) throws(PostgresError) -> EventSummary {
    EventSummary(
      count: try row["count"], known: try row["known"], average: try row["average"],
      minimum: try row["minimum"], maximum: try row["maximum"], energy: try row["energy"],
      moment: try row["moment"])
  }

  private static func value(
    of key: EventKey, _ row: borrowing SQLRow
  ) throws(PostgresError) -> EventKey.Value? {
    switch key {
    case .place, .region, .network, .type, .status:
      let text: String? = try row["key"]
      return text.map { .text($0) }
    case .day, .hour, .month:
      let time: Timestamp? = try row["key"]
      return time.map { .time($0) }
    case .magnitude:
      let number: Double? = try row["key"]
      return number.map { .number($0) }
    }
  }

  private static func value(of key: EventKey, _ value: BinaryValue) -> EventKey.Value? {
    switch key {
    case .place, .region, .network, .type, .status: value.text.map { .text($0) }
    case .day, .hour, .month: value.timestamp.map { .time(Timestamp(microseconds: $0)) }
    case .magnitude: value.double.map { .number($0) }
    }
  }
}

/// Events of a list with the same value of a key, under which a view shows them.
package struct EventSection: Hashable, Sendable {
  /// The value of the key; nil: the events have none.
  package let key: EventKey.Value?
  /// The events, in the order of the query.
  package let events: [EventRecord]
}

/// Figures about the events of a query.
public struct EventStatistics: Sendable, Hashable {
  /// Number, values of a column, energy and moment.
  public let summary: EventSummary
  /// The b-value; nil: no event has a magnitude.
  public let bValue: BValue?
  /// How many events of the query are no earthquakes, and count nowhere else.
  public let otherEvents: Int64
}

/// The number of events, and what is known of a column of them.
public struct EventSummary: Sendable, Hashable {
  /// How many events there are.
  public let count: Int64
  /// How many of them have a value in the column.
  public let known: Int64
  /// The average of the values; nil: there is none.
  public let average: Double?
  /// The smallest value.
  public let minimum: Double?
  /// The greatest value.
  public let maximum: Double?
  /// The sum of the radiated energies in joules, 10^(1.5 M + 4.8) each (Gutenberg and Richter, 1956); nil: no
  /// event has a magnitude.
  public let energy: Double?
  /// The sum of the seismic moments in newton metres, 10^(1.5 M + 9.1) each (Hanks and Kanamori, 1979), as if
  /// every magnitude were a moment magnitude; nil: no event has one.
  public let moment: Double?
}

/// A key by which events are grouped.
public enum EventKey: Sendable, Hashable {
  /// The place without distance and direction, such as `Pāhala, Hawaii`.
  case place
  /// The last part of the place, such as `Hawaii`.
  case region
  /// The network (`net`).
  case network
  case type
  /// The status, as feeds spell it.
  case status
  /// The day of the origin time in UTC.
  case day
  /// The hour of the origin time in UTC: each hour of each day.
  case hour
  /// The month of the origin time in UTC.
  case month
  /// Classes of the magnitude of this width. A class of 0.1 has the magnitudes that are nearest to it, as that of
  /// the b-value; wider ones consist of whole classes of 0.1, and have the magnitude of the lowest. Those that cannot,
  /// such as of 0.25, begin at multiples of their width.
  case magnitude(classWidth: Double)

  /// A value of the key.
  public enum Value: Sendable, Hashable {
    case text(String)
    /// The start of a day, an hour or a month.
    case time(Timestamp)
    /// The least magnitude of a class.
    case number(Double)
  }

  /// Whether its values have an order of their own: times and magnitudes.
  package var hasNaturalOrder: Bool {
    switch self {
    case .day, .hour, .month, .magnitude: true
    case .place, .region, .network, .type, .status: false
    }
  }

  func check() throws(StoreError) {
    guard case .magnitude(let width) = self, !(width > 0 && width.isFinite) else { return }
    throw StoreError(
      .usage, "there are no classes of magnitude of the width \(width)",
      hint: "Give a number greater than 0, such as 0.5.")
  }

  func expression(alias: SQL) -> SQL {
    switch self {
    case .place: return "quake.locality(\(sql: alias).place)"
    case .region: return "quake.region(\(sql: alias).place)"
    case .network: return "\(sql: alias).net"
    case .type: return "\(sql: alias).type"
    case .status: return "\(sql: alias).status"
    case .day: return "pg_catalog.date_trunc('day', \(sql: alias).time, 'UTC')"
    case .hour: return "pg_catalog.date_trunc('hour', \(sql: alias).time, 'UTC')"
    case .month: return "pg_catalog.date_trunc('month', \(sql: alias).time, 'UTC')"
    case .magnitude(let classWidth):
      let width: SQL = "\(classWidth)::float8"
      let tenths = classWidth * 10
      guard tenths < 1 || abs(tenths - tenths.rounded()) < 1e-9 else {
        return """
          (pg_catalog.round((pg_catalog.floor(\(sql: alias).magnitude / \(sql: width) + 1e-9) \
          * \(sql: width))::numeric, 6))::float8
          """
      }
      let least: SQL = "least(\(sql: width), 0.1)"
      // The small numbers make up for multiples that are no binary fractions, such as 0.3 with a width of 0.1.
      let fine: SQL = "pg_catalog.floor(\(sql: alias).magnitude / \(sql: least) + 0.5 + 1e-9)"
      return """
        (pg_catalog.round((pg_catalog.floor(\(sql: fine) * \(sql: least) / \(sql: width) + 1e-9) \
        * \(sql: width))::numeric, 6))::float8
        """
    }
  }
}
