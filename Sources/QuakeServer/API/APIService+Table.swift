import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

/// `/v1/table`: the events in the shortest form, with the cursor at which the stream of changes goes on.
extension APIService {
  /// The most events of a page, and how many there are if the request names no limit.
  private static let mostRows = 100_000
  private static let usualRows = 20_000

  /// The columns that the page shows.
  private static let usualColumns: [QuakeColumn] = [
    .code, .time, .updated, .latitude, .longitude, .depth, .magnitude, .magnitudeType, .place,
    .type, .status, .tsunami, .alert, .felt, .sig, .net,
  ]

  private static let tableOptions: [Option] =
    [EventQueryOptions.asOf] + FilterOptions.events + EventQueryOptions.past + [
      EventQueryOptions.sort, EventQueryOptions.columns,
      .value("limit", "N", default: "\(usualRows)", help: "at most N events, up to \(mostRows)"),
      .value("page", "CURSOR", help: "the page after this cursor"),
    ]

  var tableRoute: Route {
    Route(
      method: .get, path: "/v1/table",
      operation: Operation(
        "tableQuakes", "the events as rows, and the cursor of the changes after them",
        tag: "events",
        description: """
          The same events as `/v1/quakes`, in a third of the bytes: `columns` has the names, and each \
          element of `rows`, on a line of its own, has the values in that order. Times are milliseconds \
          since 1970; a value that is not known is null. `token` is the newest transaction that the rows \
          contain: `/v1/changes?after=TOKEN` sends every later change, without a gap and without a repeat. \
          `time` is the time of that transaction. Without `columns` the columns are \
          \(Self.usualColumns.map(\.name).joined(separator: ", ")).
          """,
        parameters: APIParameters.describe(Self.tableOptions, limit: Self.mostRows),
        answers: [
          .init(
            200, "The events. `Link` has the next page (rel=\"next\").", [Self.json],
            schema: "Table")
        ]),
      caching: .untilChange, handler: .query { try table($0, $1) })
  }

  private func table(_ request: Request, _ context: QueryContext) throws -> Response {
    let connection = context.connection
    let arguments = try APIParameters.read(request, Self.tableOptions)
    var query = try Self.list(arguments, mostEvents: Self.mostRows, usually: Self.usualRows)
    let columns = try EventQueryOptions.columns(arguments) ?? Self.usualColumns
    query.columns = columns
    return try connection.atOneMoment {
      let point = try query.asOf?.resolve(over: connection)
      query.asOf = point.map { .token($0) }
      let token = try point ?? HistoryReader.latestToken(over: connection)
      var table = TableWriter(
        columns, token: token, time: try Self.moment(of: token, over: connection))
      let next = try query.read(over: connection) { try table.add($0) }
      return Self.page(try table.finish(), of: "/v1/table", request, arguments, next)
    }
  }
}
