package import Postgres
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
  package static let numericColumns = QuakeColumn.allCases.filter { column in
    switch column.kind {
    case .float8, .int4, .int2: true
    case .text, .timestamp, .bool: false
    }
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
    var selection = try EventQuerySQL(self, over: connection)
    selection.restrict("not " + EventQuerySQL.isEarthquake)
    let statement = SQL(trusted: "select count(*) \(selection.text)")
    return try selection.asking {
      try connection.execute(statement, selection.parameters).integer(0, 0) ?? 0
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
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer.
  package func groups(
    by key: EventKey, of column: QuakeColumn = .magnitude, everyType: Bool = false,
    over connection: Connection,
    _ body: (EventGroup) throws -> Void
  ) throws {
    precondition(Self.numericColumns.contains(column), "column \(column) has no numbers")
    var selection = try EventQuerySQL(self, over: connection)
    let expression = selection.expression(for: key)
    if key != .type, countsOnlyEarthquakes(everyType) {
      selection.restrict(EventQuerySQL.isEarthquake)
    }
    let cumulative =
      if case .magnitude = key {
        "case when g.key is not null then (sum(g.count) over (order by g.key desc nulls last))::int8 end"
      } else {
        "null::int8"
      }
    let order = key.hasNaturalOrder ? "g.key nulls last" : "g.count desc, g.key nulls last"
    let statement = SQL(
      trusted: """
        select g.key, g.count, g.known, g.average, g.minimum, g.maximum, g.energy, g.moment,
               \(cumulative)
          from (select \(expression) as key, \(Self.summaries(of: column)) \(selection.text) group by 1) g
         order by \(order) \(limit.map { "limit \($0)" } ?? "")
        """)
    try selection.asking {
      try connection.stream(statement, selection.parameters) { rows in
        for row in 0..<rows.rowCount {
          try body(
            EventGroup(
              key: Self.value(of: key, rows.binary(row, 0)),
              summary: Self.summary(rows, row, firstColumn: 1),
              cumulative: rows.binaryInteger(row, 8)))
        }
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
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer.
  package func statistics(
    of column: QuakeColumn = .magnitude, completeness: Completeness = .maximumCurvature,
    everyType: Bool = false, over connection: Connection
  ) throws -> EventStatistics {
    precondition(Self.numericColumns.contains(column), "column \(column) has no numbers")
    var selection = try EventQuerySQL(self, over: connection)
    var magnitude: Double?
    if case .magnitude(let value) = completeness { magnitude = value }
    let given = selection.place(.double(magnitude), "float8")
    let method = magnitude == nil ? completeness : .maximumCurvature
    var (events, isCounted) = (selection.text, "true")
    if countsOnlyEarthquakes(everyType) {
      isCounted = "q.is_counted"
      // The offset keeps the planner from evaluating the condition for each of the aggregates.
      let value = column == .magnitude ? "" : "q.\(column.name), "
      events = """
        from (select q.magnitude, \(value)\(EventQuerySQL.isEarthquake) as is_counted
                \(selection.text) offset 0) q
        """
    }
    let statement = SQL(
      trusted: """
        select s.count, s.known, s.average, s.minimum, s.maximum, s.energy, s.moment, s.others,
               b.completeness_magnitude, b.events, b.mean_magnitude, b.b, b.standard_error,
               b.refusal, b.refused_b, b.other_magnitude, b.other_b, b.steady_from
          from (select \(Self.summaries(of: column, where: isCounted)),
                       count(*) filter (where not \(isCounted)) as others,
                       pg_catalog.array_agg(q.magnitude) filter (where \(isCounted)) as magnitudes
                \(events)) s
          left join lateral quake.gutenberg_richter(s.magnitudes, \(given), \
        \(selection.place(.text(method.name), "text"))) b on true
        """)
    return try selection.asking {
      let rows = try connection.execute(statement, selection.parameters, format: .binary)
      var bValue: BValue?
      // The function has no row if there is no magnitude.
      if let events = rows.binaryInteger(0, 9) {
        bValue = BValue(
          completeness: rows.binaryDouble(0, 8), method: completeness, events: events,
          mean: rows.binaryDouble(0, 10), b: rows.binaryDouble(0, 11),
          standardError: rows.binaryDouble(0, 12), refusal: Self.refusal(rows))
      }
      return EventStatistics(
        summary: Self.summary(rows, 0, firstColumn: 0), bValue: bValue,
        otherEvents: rows.binaryInteger(0, 7) ?? 0)
    }
  }

  /// The events in sections: ordered by a key, and within its values by the query's order. The query's `limit`
  /// counts events; `after` does not count.
  ///
  /// - Parameter key: What to make sections of: times and magnitudes in descending order, others in the order
  ///   of the database's collation.
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer.
  package func sections(by key: EventKey, over connection: Connection) throws -> [EventSection] {
    var query = self
    query.after = nil
    var selection = try EventQuerySQL(query, over: connection)
    let expression = selection.expression(for: key)
    let rows = EventRows(columns: columns)
    let order = EventOrder.total(order).map { $0.clause(alias: "q") }.joined(separator: ", ")
    let statement = SQL(
      trusted: """
        select \(rows.list(of: "q")), \(expression) as key \(selection.text)
         order by key \(key.hasNaturalOrder ? "desc" : "") nulls last, \(order)
         \(limit.map { "limit \($0)" } ?? "")
        """)
    var sections: [EventSection] = []
    var events: [QuakeRecord] = []
    var current: EventKey.Value?
    func end() {
      if !events.isEmpty { sections.append(EventSection(key: current, events: events)) }
      events = []
    }
    try selection.asking {
      try rows.read(statement, selection.parameters, over: connection) { event, rest in
        let value = Self.value(of: key, rest)
        if value != current { end() }
        current = value
        events.append(event)
      }
    }
    end()
    return sections
  }

  private static func refusal(_ rows: borrowing QueryResult) -> BValue.Refusal? {
    switch rows.binary(0, 13).text {
    case nil: nil
    case "one-class": .oneClass
    case "no-stable-cutoff": .noStableCutoff
    case "depends-on-cutoff":
      .dependsOnCutoff(
        b: rows.binaryDouble(0, 14) ?? .nan, from: rows.binaryDouble(0, 15) ?? .nan,
        other: rows.binaryDouble(0, 16) ?? .nan, steady: rows.binaryDouble(0, 17))
    default: .fewEvents
    }
  }

  /// - Parameter condition: Which events count.
  private static func summaries(
    of column: QuakeColumn, where condition: String = "true"
  ) -> String {
    let value = "q.\(column.name)::float8"
    return [
      ("count(*)", "count"), ("count(\(value))", "known"), ("avg(\(value))", "average"),
      ("min(\(value))", "minimum"), ("max(\(value))", "maximum"),
      ("sum(quake.energy(q.magnitude))", "energy"), ("sum(quake.moment(q.magnitude))", "moment"),
    ].map { aggregate, name in
      condition == "true"
        ? "\(aggregate) as \(name)" : "\(aggregate) filter (where \(condition)) as \(name)"
    }.joined(separator: ", ")
  }

  private static func summary(
    _ rows: borrowing QueryResult, _ row: Int, firstColumn first: Int
  ) -> EventSummary {
    EventSummary(
      count: rows.binaryInteger(row, first) ?? 0, known: rows.binaryInteger(row, first + 1) ?? 0,
      average: rows.binaryDouble(row, first + 2), minimum: rows.binaryDouble(row, first + 3),
      maximum: rows.binaryDouble(row, first + 4), energy: rows.binaryDouble(row, first + 5),
      moment: rows.binaryDouble(row, first + 6))
  }

  private static func value(of key: EventKey, _ value: BinaryValue) -> EventKey.Value? {
    switch key {
    case .place, .region, .network, .type, .status: value.text.map { .text($0) }
    case .day, .hour, .month: value.timestamp.map { .time(Timestamp(microseconds: $0)) }
    case .magnitude: value.double.map { .number($0) }
    }
  }
}

extension EventQuerySQL {
  /// The expression for a key of the events.
  fileprivate mutating func expression(for key: EventKey) -> String {
    var width = ""
    if case .magnitude(let value) = key { width = place(.double(value), "float8") }
    return key.expression(alias: "q", classWidth: width)
  }
}

/// Events of a list with the same value of a key, under which a view shows them.
package struct EventSection: Hashable, Sendable {
  /// The value of the key; nil: the events have none.
  package let key: EventKey.Value?
  /// The events, in the order of the query.
  package let events: [QuakeRecord]
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
  /// The place without distance and direction, such as `Pāhala, Hawaii` (`PlaceName.locality`).
  case place
  /// The last part of the place, such as `Hawaii` (`PlaceName.region`).
  case region
  /// The network (`net`).
  case network
  /// The type of event.
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
  /// the b-value; wider ones consist of whole classes of 0.1, and have the magnitude of the lowest.
  case magnitude(classWidth: Double)

  /// A value of the key.
  public enum Value: Sendable, Hashable {
    /// A text.
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

  /// The expression for an event with this alias.
  func expression(alias: String, classWidth: String) -> String {
    switch self {
    case .place: "quake.locality(\(alias).place)"
    case .region: "quake.region(\(alias).place)"
    case .network: "\(alias).net"
    case .type: "\(alias).type"
    case .status: "\(alias).status"
    case .day: Self.truncated("day", alias)
    case .hour: Self.truncated("hour", alias)
    case .month: Self.truncated("month", alias)
    case .magnitude:
      // The small numbers make up for multiples that are no binary fractions, such as 0.3 with a width of 0.1.
      """
      (pg_catalog.round((pg_catalog.floor(\
      pg_catalog.floor(\(alias).magnitude / least(\(classWidth), 0.1) + 0.5 + 1e-9) \
      * least(\(classWidth), 0.1) / \(classWidth) + 1e-9) * \(classWidth))::numeric, 6))::float8
      """
    }
  }

  private static func truncated(_ unit: String, _ alias: String) -> String {
    "pg_catalog.date_trunc('\(unit)', \(alias).time, 'UTC')"
  }
}
