import CommandLine
import Postgres
import QuakeOptions
import QuakeQuery
import QuakeTool
import QueryOptions

/// `quake-query stats`: counts events and summarises their values, all together or by group.
enum StatsCommand {
  static let table = Command(
    "stats", purpose: "count events, and summarise their values, all together or by group",
    discussion: """
      Without --by, the output is about all events that the options select: their number; average, \
      minimum and maximum of a column; the magnitude of completeness by maximum curvature (Wiemer and \
      Wyss, 2000); the b-value by Aki (1965) and Utsu (1966) with its standard error by Shi and Bolt \
      (1982), for magnitudes in classes of 0.1; and the sums of energy, 10^(1.5 M + 4.8) J (Gutenberg and \
      Richter, 1956), and seismic moment, 10^(1.5 M + 9.1) N m (Hanks and Kanamori, 1979), as if every \
      magnitude were a moment magnitude.

      With --by, each group has a line: days, hours, months and magnitudes in ascending order, others the \
      largest first. "place" is the text without distance and direction, such as "Pāhala, Hawaii" for \
      "6 km SSW of Pāhala, Hawaii"; "region" is what follows its last comma. Times are in UTC.
      """,
    options: EventQueryOptions.points + [StatisticsOptions.by, StatisticsOptions.of]
      + FilterOptions.events + EventQueryOptions.past + StatisticsOptions.classes + [
        StatisticsOptions.limit, .output(),
        .flag(
          "plot",
          help:
            "draw the number of events in each group, or the average of the column given by --of"),
        .flag("json", help: "one JSON object a line"),
      ],
    examples: [
      .init("quake-query stats --by region --limit 10", "the regions with the most events"),
      .init("quake-query stats --last 30d --by day --plot", "a picture of the last month"),
      .init("quake-query stats --bbox -125,32,-114,42 --from 2026-01-01", "b-value of California"),
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
          of: column, completeness: options.completeness, over: connection)
        return try StatisticsOutput(arguments, column).write(
          statistics, options.completeness)
      }
      if arguments.flag("plot") {
        let plot = GroupPlot(key, of: arguments.isGiven("of") ? column : nil)
        let hasGroups = try plot.draw(query, over: connection)
        if !hasGroups { EventSelectionOptions.announceNone(arguments, diagnostics) }
        return
      }
      let groups = try GroupOutput(key, column, arguments).write(query, over: connection)
      if groups == 0 { EventSelectionOptions.announceNone(arguments, diagnostics) }
    }
    return .ok
  }
}
