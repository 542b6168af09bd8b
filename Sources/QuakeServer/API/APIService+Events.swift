import CommandLine
import Postgres
import QuakeFormat
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

extension APIService {
  /// The most events of a page.
  private static let mostEvents = 20_000

  private static let listOptions: [Option] =
    EventQueryOptions.points + FilterOptions.events
    + EventQueryOptions.past + [
      EventQueryOptions.sort, EventQueryOptions.columns,
      .value("limit", "N", default: "\(mostEvents)", help: "at most N events"),
      .value("page", "CURSOR", help: "the page after this cursor"),
    ]

  var eventsRoute: Route {
    Route(
      method: .get, path: "/v1/quakes",
      operation: Operation(
        "listQuakes", "the events, now or as of an earlier point", tag: "events",
        description: """
          GeoJSON in the form of USGS's feeds, newest origin time first unless `sort` says otherwise. \
          `generated` is the time of the newest change. A value that is not known is null, and a \
          position without a depth has two coordinates. With `columns`, the properties are these columns. \
          Superseded and withdrawn events are left out unless a parameter includes them or `code` names \
          them. If events of several sources are associated, an earthquake is one event, whose property \
          `quake:others` has the codes of the others. If there are more events, the header `Link` has the address of the next page, which \
          begins after the last event of this one, whatever was added meanwhile.
          """,
        parameters: APIParameters.describe(Self.listOptions),
        answers: [
          .init(
            200, "The events. `Link` has the next page (rel=\"next\").", [FeatureWriter.mediaType],
            schema: "FeatureCollection")
        ]),
      caching: .untilChange, handler: .query { try list($0, $1) })
  }

  private func list(_ request: Request, _ context: QueryContext) throws -> Response {
    let arguments = try APIParameters.read(request, Self.listOptions)
    var query = try Self.list(
      arguments, mostEvents: Self.mostEvents, usually: Self.mostEvents)
    let columns = try EventQueryOptions.columns(arguments)
    query.columns = FeatureWriter.columns(for: columns)
    return try context.connection.atOneMoment {
      let point = try query.asOf?.resolve(over: context.connection)
      query.asOf = point.map { .token($0) }
      let generated = try Self.moment(of: point, over: context.connection)
      let head = DocumentHead(
        generated: generated, url: request.baseURL + request.target, api: version)
      var writer = try FeatureWriter(columns, head, most: Int(query.limit ?? 0))
      let next = try query.readWithOthers(over: context.connection) { event, others in
        try writer.add(event, others: others)
      }
      return Self.page(try writer.finish(), of: "/v1/quakes", request, arguments, next)
    }
  }

  /// The query of a page of events, without its columns.
  static func list(
    _ arguments: ParsedArguments, mostEvents: Int, usually: Int
  ) throws -> EventQuery {
    var query = try EventQueryOptions.query(arguments)
    let page = arguments.string("page").flatMap { $0.isEmpty ? nil : $0 }
    try EventQueryOptions.setOrder(of: &query, arguments, page: page)
    query.limit = Int64(try arguments.integer("limit", in: 1...mostEvents) ?? usually)
    return query
  }

  /// The answer with a page of events.
  ///
  /// - Parameter next: Where the next page begins; nil: there is none.
  static func page(
    _ document: Document, of path: String, _ request: Request, _ arguments: ParsedArguments,
    _ next: EventCursor?
  ) -> Response {
    var response = Response(body: .document(document))
    // The events of the last hour change by themselves.
    response.mayBeKept = !arguments.isGiven("last")
    if let next { response.headers.append("Link", link(to: path, request, page: "\(next)")) }
    return response
  }

  /// When the store changed last, or was at a point of its history.
  static func moment(of point: ChangeToken?, over connection: Connection) throws -> Timestamp {
    let token = try point ?? HistoryReader.latestToken(over: connection)
    let time = try connection.firstRow(
      "select t.at from quake.change_transaction t where t.token = \(token.number)",
      format: .binary, as: Timestamp.self)
    return time ?? .now()
  }

  /// The value of `Link` with the next page of an answer.
  static func link(to path: String, _ request: Request, page: String) -> String {
    let items = request.query.filter { $0.name != "page" } + [QueryItem(name: "page", value: page)]
    let query = items.map { "\(PercentEncoding.text($0.name))=\(PercentEncoding.text($0.value))" }
    return "<\(request.baseURL)\(path)?\(query.joined(separator: "&"))>; rel=\"next\""
  }
}
