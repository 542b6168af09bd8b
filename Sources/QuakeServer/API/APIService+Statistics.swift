import CommandLine
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

extension APIService {
  private static let statisticsOptions: [Option] =
    EventQueryOptions.points + [StatisticsOptions.by, StatisticsOptions.of] + FilterOptions.events
    + EventQueryOptions.past + StatisticsOptions.classes
    + [StatisticsOptions.limit]

  var statisticsRoute: Route {
    Route(
      method: .get, path: "/v1/stats",
      operation: Operation(
        "summariseQuakes", "the number of events and figures about them, all together or by group",
        tag: "events",
        description: """
          Without `by` the members are those of `quake-query stats --json`: number; average, minimum and \
          maximum of a column; magnitude of completeness and b-value; sums of energy in joules and seismic \
          moment in newton metres. Where no b-value describes the events, it is null and `b_value_reason` \
          says why. With `by`, `groups` has an object for each group: days, hours, months and magnitudes in \
          ascending order, others the largest first. Only earthquakes count, unless `type` or `by=type` asks \
          for others; `other_events` is the number of those left out.
          """,
        parameters: APIParameters.describe(Self.statisticsOptions),
        answers: [.init(200, "The figures.", [Self.json], schema: "Statistics")]),
      caching: .untilChange, isExpensive: true,
      handler: .query { request, context in
        let arguments = try APIParameters.read(request, Self.statisticsOptions)
        let options = try StatisticsOptions(arguments)
        var query = try EventQueryOptions.query(arguments)
        query.limit = options.limit
        let document = JSONDocument()
        if let key = options.key {
          document.json.beginObject()
          document.json.member("by", key.name)
          document.json.member("column", options.column.name)
          document.json.member(
            "other_events",
            Int(
              try query.otherEvents(
                by: key, everyType: options.everyType, over: context.connection)))
          document.json.beginArray("groups")
          try query.groups(
            by: key, of: options.column, everyType: options.everyType, over: context.connection
          ) { group in
            try document.element { json, _ in json.group(group, by: key, of: options.column) }
          }
          document.json.endArray()
          document.json.endObject()
        } else {
          let statistics = try query.statistics(
            of: options.column, completeness: options.completeness, everyType: options.everyType,
            over: context.connection)
          document.json.statistics(
            statistics, of: options.column,
            reason: StatisticsOptions.reason(statistics.bValue, arguments))
        }
        var response = Response(body: .document(try document.finish()))
        response.mayBeKept = !arguments.isGiven("last")
        return response
      })
  }
}
