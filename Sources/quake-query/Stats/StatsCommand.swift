import CommandLine
import Postgres
import QuakeModel
import QuakeQuery
import QuakeTool

/// `quake-query stats`: counts events and summarises their values, all together or by group.
enum StatsCommand {
  static let table = Command(
    "stats", purpose: "count events, and summarise their values, all together or by group",
    discussion: """
      Without --by, the output is about all earthquakes that the options select: their number; average, \
      minimum and maximum of a column; the magnitude of completeness and the b-value, for magnitudes in \
      classes of 0.1; and the sums of energy, 10^(1.5 M + 4.8) J (Gutenberg and Richter, 1956), and seismic \
      moment, 10^(1.5 M + 9.1) N m (Hanks and Kanamori, 1979), as if every magnitude were a moment magnitude.

      The magnitude of completeness is the class with the most events plus 0.2 (maximum-curvature: Wiemer and \
      Wyss, 2000; Woessner and Wiemer, 2005), or the least from which b stays within its error over half a \
      unit (b-stability: Cao and Gao, 2002). The b-value is by Aki (1965) and Tinti and Mulargia (1987), its \
      standard error by Shi and Bolt (1982). There is none from fewer than 50 events, and none where a greater \
      magnitude of completeness leads to another, as in a mixture of regional and global catalogues.

      Only earthquakes count, unless --type names other types, or "any", or with --by type.

      With --by, each group has a line: days, hours, months and magnitudes in ascending order, others the \
      largest first. "place" is the text without distance and direction, such as "Pāhala, Hawaii" for \
      "6 km SSW of Pāhala, Hawaii"; "region" is what follows its last comma. Times are in UTC. A class of \
      the magnitude has the magnitudes that round to it; --plot draws how many are of each class and above.
      """,
    options: EventQueryOptions.points + [StatisticsOptions.by, StatisticsOptions.of]
      + FilterOptions.events + EventQueryOptions.past + StatisticsOptions.classes + [
        StatisticsOptions.limit, .output(),
        .flag(
          "plot",
          help:
            "draw the number of events in each group, or the average of the column given by --of; of magnitudes the cumulative number, on a logarithmic scale"
        ),
        .flag("json", help: "one JSON object a line"),
      ],
    examples: [
      .init("quake-query stats --by region --limit 10", "the regions with the most events"),
      .init("quake-query stats --last 30d --by day --plot", "a picture of the last month"),
      .init("quake-query stats --network ci --from 2026-01-01", "b-value of Southern California"),
      .init("quake-query stats --by magnitude --plot --network ci", "its Gutenberg-Richter plot"),
    ],
    environment: ListCommand.table.environment)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    try arguments.requireAtMostOne(of: "plot", "json")
    let options = try StatisticsOptions(arguments, groupOptions: ["plot"])
    var query = try EventQueryOptions.query(arguments)
    query.limit = options.limit
    let column = options.column
    let connection = try QueryCommand.connect(arguments, diagnostics)
    try PastNote.tell(of: query, over: connection, diagnostics)
    try EventSelectionOptions.withCodes(arguments, diagnostics, query, over: connection) { query in
      guard let key = options.key else {
        let statistics = try query.statistics(
          of: column, completeness: options.completeness, everyType: options.everyType,
          over: connection)
        return try StatisticsOutput(arguments, column).write(statistics)
      }
      try tellOfOthers(
        diagnostics,
        try query.otherEvents(by: key, everyType: options.everyType, over: connection))
      if arguments.flag("plot") {
        let plot = GroupPlot(
          key, of: arguments.isGiven("of") ? column : nil, everyType: options.everyType)
        let hasGroups = try plot.draw(query, over: connection)
        if !hasGroups { EventSelectionOptions.announceNone(arguments, diagnostics) }
        return
      }
      let groups = try GroupOutput(key, options, arguments).write(query, over: connection)
      if groups == 0 { EventSelectionOptions.announceNone(arguments, diagnostics) }
    }
    return .ok
  }

  private static func tellOfOthers(_ diagnostics: Diagnostics, _ count: Int64) throws {
    guard count > 0, diagnostics.verbosity > .quiet else { return }
    diagnostics.note(
      "\(Readable.count(count, "event")) of other types than earthquake \(count == 1 ? "is" : "are") not counted; --type any counts them"
    )
  }
}

/// Writes figures about all events.
struct StatisticsOutput {
  private let lines: Lines
  private let arguments: ParsedArguments
  private let column: EventColumn

  init(_ arguments: ParsedArguments, _ column: EventColumn) {
    lines = Lines(arguments)
    self.arguments = arguments
    self.column = column
  }

  func write(_ statistics: EventStatistics) throws {
    let reason = StatisticsOptions.reason(statistics.bValue, arguments)
    if lines.isJSON {
      try lines.write(text: "") { json, _ in
        json.statistics(statistics, of: column, reason: reason)
      }
    } else {
      let rows = rows(statistics, reason)
      let (names, values) = (rows.map(\.name), rows.map(\.value))
      let (first, second) = (width(names), width(values))
      for row in rows {
        let name = row.name + String(repeating: " ", count: first - row.name.count + 2)
        let value = String(repeating: " ", count: second - row.value.count) + row.value
        try lines.write(
          row.method.isEmpty ? "\(name)\(value)\n" : "\(name)\(value)  \(row.method)\n")
      }
    }
    try lines.flush()
  }

  private func method(_ method: BValue.Completeness?) -> String {
    switch method {
    case nil: ""
    case .maximumCurvature: "maximum curvature + 0.2 (Wiemer and Wyss, 2000)"
    case .bStability: "b-stability (Cao and Gao, 2002)"
    case .magnitude: "as given"
    }
  }

  private func width(_ texts: [String]) -> Int { texts.reduce(0) { max($0, $1.count) } }

  private func rows(
    _ statistics: EventStatistics, _ reason: String?
  ) -> [(name: String, value: String, method: String)] {
    let summary = statistics.summary
    func number(_ value: Double?, _ places: Int = 2) -> String {
      value.map { Readable.decimal($0, places: places) } ?? "none"
    }
    func sum(_ value: Double?) -> String { value.map(Readable.scientific) ?? "none" }
    let b = statistics.bValue
    let others = Int(statistics.otherEvents)
    let other = others == 1 ? "event" : "events"
    return [
      (
        "events", Readable.count(Int(summary.count)),
        others == 0
          ? ""
          : "earthquakes; not \(Readable.count(others)) \(other) of other types, which --type any counts"
      ),
      ("with \(column.name)", Readable.count(Int(summary.known)), ""),
      ("average \(column.name)", number(summary.average), ""),
      ("minimum \(column.name)", number(summary.minimum), ""),
      ("maximum \(column.name)", number(summary.maximum), ""),
      (
        "magnitude of completeness", number(b?.completeness, 1),
        method(b?.method)
      ),
      ("events of this magnitude and above", Readable.count(Int(b?.events ?? 0)), ""),
      ("b-value", number(b?.b), reason ?? "Aki (1965), Tinti and Mulargia (1987)"),
      ("standard error of the b-value", number(b?.standardError, 3), "Shi and Bolt (1982)"),
      ("energy, J", sum(summary.energy), "10^(1.5 M + 4.8) (Gutenberg and Richter, 1956)"),
      ("moment, N m", sum(summary.moment), "10^(1.5 M + 9.1) (Hanks and Kanamori, 1979)"),
    ]
  }
}
