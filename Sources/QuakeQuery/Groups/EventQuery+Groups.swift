public import Postgres
public import QuakeModel

extension EventQuery {
  /// The columns with numbers, which can be averaged.
  public static let numericColumns = QuakeColumn.allCases.filter { column in
    switch column.kind {
    case .float8, .int4, .int2: true
    case .text, .timestamp, .bool: false
    }
  }

  /// Groups the events by a key. The query's order, columns and `after` do not count.
  ///
  /// - Parameters:
  ///   - key: What to group by.
  ///   - column: The column with numbers to summarise.
  ///   - body: Gets each group, at most `limit`: those of days, hours, months and magnitudes in ascending
  ///     order, others the largest first. Events without a value of the key come last or by their number.
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer.
  public func groups(
    by key: EventKey, of column: QuakeColumn = .magnitude, over connection: Connection,
    _ body: (EventGroup) throws -> Void
  ) throws {
    precondition(Self.numericColumns.contains(column), "column \(column) has no numbers")
    var selection = try EventQuerySQL(self, over: connection)
    let expression = selection.expression(for: key)
    let order = key.hasNaturalOrder ? "g.key nulls last" : "g.count desc, g.key nulls last"
    let statement = SQL(
      trusted: """
        select g.key, g.count, g.known, g.average, g.minimum, g.maximum, g.energy, g.moment
          from (select \(expression) as key, \(Self.summaries(of: column)) \(selection.text) group by 1) g
         order by \(order) \(limit.map { "limit \($0)" } ?? "")
        """)
    try selection.asking {
      try connection.stream(statement, selection.parameters) { rows in
        for row in 0..<rows.rowCount {
          try body(
            EventGroup(
              key: Self.value(of: key, rows.binary(row, 0)),
              summary: Self.summary(rows, row, firstColumn: 1)))
        }
      }
    }
  }

  /// Figures about all events of the query. Its order, columns, `after` and `limit` do not count.
  ///
  /// - Parameters:
  ///   - column: The column with numbers to summarise.
  ///   - completeness: The magnitude of completeness for the b-value; nil: estimated.
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer.
  public func statistics(
    of column: QuakeColumn = .magnitude, completeness: Double? = nil, over connection: Connection
  ) throws -> EventStatistics {
    precondition(Self.numericColumns.contains(column), "column \(column) has no numbers")
    var selection = try EventQuerySQL(self, over: connection)
    let given = selection.place(.double(completeness), "float8")
    let statement = SQL(
      trusted: """
        select s.count, s.known, s.average, s.minimum, s.maximum, s.energy, s.moment,
               b.completeness_magnitude, b.events, b.mean_magnitude, b.b, b.standard_error
          from (select \(Self.summaries(of: column)),
                       pg_catalog.array_agg(q.magnitude) as magnitudes \(selection.text)) s
          left join lateral quake.b_value(s.magnitudes, \(given)) b on true
        """)
    return try selection.asking {
      let rows = try connection.execute(statement, selection.parameters, format: .binary)
      var bValue: BValue?
      if let completeness = rows.binaryDouble(0, 7) {
        bValue = BValue(
          completeness: completeness, events: rows.binaryInteger(0, 8) ?? 0,
          mean: rows.binaryDouble(0, 9), b: rows.binaryDouble(0, 10),
          standardError: rows.binaryDouble(0, 11))
      }
      return EventStatistics(
        summary: Self.summary(rows, 0, firstColumn: 0), bValue: bValue)
    }
  }

  /// The events in sections: ordered by a key, and within its values by the query's order. The query's `limit`
  /// counts events; `after` does not count.
  ///
  /// - Parameter key: What to make sections of: times and magnitudes in descending order, others in the order
  ///   of the database's collation.
  /// - Throws: `StoreError` of kind `token` if `asOf` is not in this history, or no longer.
  public func sections(by key: EventKey, over connection: Connection) throws -> [EventSection] {
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

  private static func summaries(of column: QuakeColumn) -> String {
    let value = "q.\(column.name)::float8"
    return """
      count(*) as count, count(\(value)) as known, avg(\(value)) as average, min(\(value)) as minimum, \
      max(\(value)) as maximum, sum(quake.energy(q.magnitude)) as energy, \
      sum(quake.moment(q.magnitude)) as moment
      """
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
