import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

extension APIService {
  static let id = Operation.Parameter(
    "id", .string(pattern: #"^[^\u0000-\u001f\u007f]+$"#), "any id that the event has or had",
    in: .path, example: "us7000pn9s")

  /// The answers to a request for one event if there is no such event now.
  static let absences: [Operation.Answer] = [
    .init(404, "No event has or had this id.", [problem], schema: "Problem"),
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
          .init(200, "The versions.", [Self.json], schema: "Versions"),
          .init(404, "No event has or had this id.", [Self.problem], schema: "Problem"),
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
