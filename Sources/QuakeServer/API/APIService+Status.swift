import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool
import QuakeWorker

extension APIService {
  private static let statusOptions: [Option] = [
    .value("feed", "NAME", repeatable: true, help: "feed to report; by default all")
  ]

  var statusRoute: Route {
    Route(
      method: .get, path: "/v1/status",
      operation: Operation(
        "getStatus", "the health of feeds, workers, watchers and the database", tag: "operation",
        description: """
          What `quake-admin status --json` prints, with its usual limits. `ok` is false if there is a \
          problem; `problems` names each. Database roles, process ids, addresses, folders and the consumers, also \
          their problems, are left out without a token of `--audit-token`.
          """,
        parameters: APIParameters.describe(Self.statusOptions),
        answers: [.json(200, "The status.", "Status")]),
      handler: .query { request, context in
        let arguments = try APIParameters.read(request, Self.statusOptions)
        let limits = StatusLimits()
        let report = try StatusReport(
          context.connection, embedded: embedded, feeds: arguments.strings("feed"), limits: limits,
          program: "quake-serve \(version)")
        let shown = request.seesSessions ? report : report.withoutSessions
        let text = StatusJSON(shown, limits.problems(in: shown)).text
        return Response(
          body: .document(Document(Array(text.utf8), contentType: Self.json)))
      })
  }

  private static let refreshOptions: [Option] = [
    .value("feed", "NAME", help: "short name of the feed; by default all polled feeds"),
    .value("timeout", "DURATION", default: "10s", help: "how long to wait for the workers"),
  ]

  var refreshRoute: Route {
    Route(
      method: .post, path: "/v1/refresh",
      operation: Operation(
        "refreshFeeds", "make the workers poll feeds now, and report the results", tag: "operation",
        description: """
          A worker polls its feed at once, but at least 10 s after the last poll. The answer comes when \
          each feed has a result, or after `timeout`, at most a minute.
          """,
        parameters: APIParameters.describe(Self.refreshOptions),
        answers: [
          .json(200, "Each feed has a result.", "Refresh"),
          .json(202, "Not every feed has a result: `outcome` of the others is null.", "Refresh"),
          .problem(404, "There is no such feed."),
        ]),
      access: .token,
      handler: .query { try refresh($0, $1.connection) })
  }

  private func refresh(_ request: Request, _ connection: Connection) throws -> Response {
    let arguments = try APIParameters.read(request, Self.refreshOptions)
    let timeout =
      try arguments.duration("timeout", in: .milliseconds(1) ... .seconds(60)) ?? .seconds(10)
    let feed = arguments.string("feed")
    try Self.refuseBody(request)
    try RefreshRequest.listen(over: connection)
    let (id, feeds): (Int64, [RefreshRequest.Status])
    do {
      let refresh = try RefreshRequest.ask(for: feed, over: connection)
      feeds = try refresh.results(
        within: timeout, over: connection, wake: -1, shouldStop: isStopping)
      id = refresh.id
    } catch {
      try RefreshRequest.stopListening(over: connection)
      throw error
    }
    try RefreshRequest.stopListening(over: connection)
    let isDone = feeds.allSatisfy { $0.outcome != nil }
    return JSONDocument.response(isDone ? 200 : 202) { json in
      json.object { json in
        json.member("request", id)
        json.array("feeds") { json in
          for feed in feeds { json.refresh(feed, request: id) }
        }
      }
    }
  }

  /// Refuses a body, since the conditions in it would be ignored.
  static func refuseBody(_ request: Request) throws(HTTPError) {
    guard request.body.isEmpty else {
      throw HTTPError(
        415, "This request takes no body. Give its values as parameters of the address.")
    }
  }

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
        answers: [.json(200, "The figures.", "Statistics")]),
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
        response.mayBeKept = !APIParameters.dependOnNow(request)
        return response
      })
  }
}
