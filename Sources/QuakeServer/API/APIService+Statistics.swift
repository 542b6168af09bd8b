import CommandLine
import QuakeHistory
import QuakeModel
import QuakeOptions
import QuakeQuery
import QueryOptions

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
          moment in newton metres. With `by`, `groups` has an object for each group: days, hours, months \
          and magnitudes in ascending order, others the largest first.
          """,
        parameters: APIParameters.describe(Self.statisticsOptions),
        answers: [.init(200, "The figures.", [Self.json], schema: "Statistics")]),
      caching: .untilChange,
      handler: .query { request, context in
        let arguments = try APIParameters.read(request, Self.statisticsOptions)
        let options = try StatisticsOptions(arguments)
        var query = try EventQueryOptions.query(arguments)
        query.limit = options.limit
        let document = JSONDocument()
        if let key = options.key {
          document.json.beginObject()
          document.json.key("by")
          document.json.string(key.name)
          document.json.key("column")
          document.json.string(options.column.name)
          document.json.key("groups")
          document.json.beginArray()
          try query.groups(by: key, of: options.column, over: context.connection) { group in
            try document.element { json, _ in json.group(group, by: key, of: options.column) }
          }
          document.json.endArray()
          document.json.endObject()
        } else {
          let statistics = try query.statistics(
            of: options.column, completeness: options.completeness, over: context.connection)
          document.json.statistics(statistics, of: options.column)
        }
        var response = Response(body: .document(try document.finish()))
        response.mayBeKept = !arguments.isGiven("last")
        return response
      })
  }
}
