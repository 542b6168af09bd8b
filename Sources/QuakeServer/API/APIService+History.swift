import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool

extension APIService {
  /// The most changes of a page.
  private static let mostChanges = 10_000
  private static let usualChanges = 1000

  private static let historyOptions: [Option] =
    HistoryQueryOptions.selection + [
      .value("limit", "N", default: "\(mostChanges)", help: "at most N changes; by default 1000"),
      .value("page", "CURSOR", help: "the page after this cursor"),
    ]

  var historyRoute: Route {
    var parameters = APIParameters.describe(Self.historyOptions)
    if let limit = parameters.firstIndex(where: { $0.name == "limit" }) {
      parameters[limit].summary = "at most N changes; by default \(Self.usualChanges)"
    }
    return Route(
      method: .get, path: "/v1/history",
      operation: Operation(
        "listChanges", "committed changes, in commit order", tag: "history",
        description: """
          By default the changes from the oldest one that the history still holds. A change is what \
          `quake-query history --json` prints; it must meet all conditions, and meets a condition on the \
          event if the event met it before or after the change. If there are more changes, the header \
          `Link` has the address of the next page; `next` is its cursor, else null.
          """,
        parameters: parameters,
        answers: [
          .init(
            200, "The changes. `Link` has the next page (rel=\"next\").", [Self.json],
            schema: "Changes"),
          .init(410, "The history of that time was purged.", [Self.problem], schema: "Problem"),
        ]),
      caching: .untilChange, isExpensive: true, handler: .query { try Self.changes($0, $1) })
  }

  private static func changes(_ request: Request, _ context: QueryContext) throws -> Response {
    let arguments = try APIParameters.read(request, historyOptions)
    var query = try HistoryQueryOptions.query(arguments)
    let limit = try arguments.integer("limit", in: 1...mostChanges) ?? usualChanges
    // One more tells whether there is a next page.
    query.limit = Int64(limit) + 1
    if let text = arguments.string("page"), !text.isEmpty {
      guard let position = ChangePosition(text) else {
        throw HTTPError(
          400, "The cursor is malformed. Use the one that came with the page before, unchanged.")
      }
      query.afterChange = position
    }
    let connection = context.connection
    let document = JSONDocument()
    document.json.hidesSessions = !request.seesSessions
    document.json.beginObject()
    document.json.beginArray("changes")
    var (count, last, hasMore) = (0, nil as ChangePosition?, false)
    // Not in a transaction: the reader cancels a statement that returns too much, and repeats it for less.
    try withPagePlans(connection) {
      var reader = try HistoryQueryReader(query, over: connection)
      while try !reader.readPage({ change in
        guard count < limit else {
          hasMore = true
          return
        }
        count += 1
        last = ChangePosition(of: change)
        try document.element { try $0.change(change, drain: $1) }
      }) {}
    }
    let next = hasMore ? last.map { "\($0)" } : nil
    document.json.endArray()
    document.json.member("next", next)
    document.json.endObject()
    var response = Response(body: .document(try document.finish()))
    response.mayBeKept = !arguments.isGiven("last")
    if let next {
      response.headers.append("Link", link(to: "/v1/history", request, page: next))
    }
    return response
  }

  /// Runs `body` with the plans that `HistoryQueryReader` needs. What it would set for the rest of the session
  /// is undone, and its statements, whose text depends on the parameters, are not kept.
  private static func withPagePlans(_ connection: Connection, _ body: () throws -> Void) throws {
    guard connection.keepsStatements else { return try body() }
    connection.keepsStatements = false
    defer { connection.keepsStatements = true }
    try connection.execute("set enable_bitmapscan = off")
    do {
      try body()
    } catch {
      try connection.execute("reset enable_bitmapscan")
      throw error
    }
    try connection.execute("reset enable_bitmapscan")
  }
}
