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
    response.mayBeKept = !APIParameters.dependOnNow(request)
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

  static let id = Operation.Parameter(
    "id", .string(pattern: #"^[^\u0000-\u001f\u007f]+$"#), "any id that the event has or had",
    in: .path, example: "us7000pn9s")

  /// The answers to a request for one event if there is no such event now.
  static let absences: [Operation.Answer] = [
    .problem(404, "No event has or had this id."),
    .init(
      410, "The event was deleted; the members tell by whom and why.", [problem], schema: "Gone"),
  ]

  var eventRoute: Route {
    let options = [EventQueryOptions.columns]
    return Route(
      method: .get, path: "/v1/quakes/{id}",
      operation: Operation(
        "getQuake", "an event as it is now, by any id that it has or had", tag: "events",
        description: """
          A feature of GeoJSON, as in the list of events. A superseded id leads to the event that \
          describes the earthquake now.
          """,
        parameters: [Self.id] + APIParameters.describe(options),
        answers: [.init(200, "The event.", [FeatureWriter.mediaType], schema: "Feature")]
          + Self.absences),
      caching: .untilChange,
      handler: .query { request, context in
        let arguments = try APIParameters.read(request, options)
        let columns = try EventQueryOptions.columns(arguments)
        let id = try Self.id(request)
        let history = EventHistory(connection: context.connection)
        guard let event = try history.event(id) else {
          return try Self.absence(of: id, request, context.connection)
        }
        let others = try columns == nil ? history.others(of: event) : []
        return Response(
          body: .document(try FeatureWriter.document(event, columns, others: others)))
      })
  }

  var versionsRoute: Route {
    Route(
      method: .get, path: "/v1/quakes/{id}/versions",
      operation: Operation(
        "listVersions", "the changes of an event, oldest first", tag: "events",
        description: "Each version is what `quake-query versions --json` prints.",
        parameters: [Self.id],
        answers: [
          .json(200, "The versions.", "Versions"),
          .problem(404, "No event has or had this id."),
        ]),
      caching: .untilChange,
      handler: .query { request, context in
        _ = try APIParameters.read(request, [])
        let id = try Self.id(request)
        let history = EventHistory(connection: context.connection)
        guard let code = try history.code(of: id) else { throw Self.unknown(id) }
        let document = JSONDocument()
        document.json.hidesSessions = !request.seesSessions
        document.json.beginObject()
        document.json.member("code", code)
        document.json.beginArray("versions")
        try history.versions(of: code) { version in
          try document.element { try $0.version(version, drain: $1) }
        }
        document.json.endArray()
        document.json.endObject()
        return Response(body: .document(try document.finish()))
      })
  }

  /// The id in the path of a request.
  static func id(_ request: Request) throws(HTTPError) -> String {
    let id = request.parameters["id"] ?? ""
    // No event has a longer one.
    guard id.utf8.count <= 1024 else { throw unknown(String(id.prefix(100)) + "…") }
    return id
  }

  static func unknown(_ id: String) -> HTTPError {
    HTTPError(
      404,
      "There is no event \"\(id)\". An id is network and number together, as feeds write it, such as us7000pn9s."
    )
  }

  /// The answer for an id that no event has now: it was deleted, or there never was one.
  ///
  /// - Parameter status: The status of the answer for a deleted event.
  static func absence(
    of id: String, _ request: Request, _ connection: Connection, status: Int = 410
  ) throws -> Response {
    if let tombstone = try Tombstone.find(id, over: connection) {
      return gone(id, tombstone.code, request, status) { json in
        json.member("reason", tombstone.reason)
        json.member("deleted_at", tombstone.deletedAt)
        json.member("author", tombstone.author)
        json.member("context", tombstone.context)
        json.member("edit", tombstone.edit)
      }
    }
    // Somebody deleted the row with SQL: a feed may store the event anew.
    let history = EventHistory(connection: connection)
    guard let code = try history.code(of: id) else { throw unknown(id) }
    var last: ChangeTransaction?
    try history.versions(of: code) { last = $0.transaction }
    return gone(id, code, request, status) { json in
      json.member("reason", "removed")
      json.member("deleted_at", last?.at)
      json.member("author", last?.author)
      json.member("context", last?.context)
      json.null("edit")
    }
  }

  private static func gone(
    _ id: String, _ code: String, _ request: Request, _ status: Int,
    _ more: (inout JSONWriter) -> Void
  ) -> Response {
    let error = HTTPError(status, "The event \"\(id)\" was deleted.")
    return ErrorForm.problem(error, request) { json in
      json.member("code", code)
      more(&json)
    }
  }
}
