import Postgres
import QuakeFormat
import QuakeHistory
import QuakeModel
import QuakeQuery

/// Answers one request of the event service.
struct FDSNAnswer {
  private let query: FDSNQuery
  private let request: Request
  private let connection: Connection
  private let detail: ServiceForm.Detail
  private let now = Timestamp.now()

  /// - Parameter detail: Where the addresses of detail documents lead.
  init(
    _ query: FDSNQuery, _ request: Request, over connection: Connection,
    detail: ServiceForm.Detail = .query
  ) {
    self.detail = detail
    self.query = query
    self.request = request
    self.connection = connection
  }

  private var format: FDSNFormat { query.format ?? .quakeml }

  private var form: ServiceForm {
    ServiceForm(baseURL: request.baseURL, detail: detail)
  }

  /// The answer with the headers that USGS's service gives: a cache may keep it for a minute.
  func fresh(_ response: Response) -> Response { response.kept(forAMinuteFrom: now) }

  func response() throws -> Response {
    guard let id = query.eventID else { return try search() }
    guard let found = try find(id) else {
      if format.isQuakeML { return try nothing() }
      // Like USGS's service: an empty list in CSV and text, an error in the remaining formats.
      if format == .csv || format == .text { return try write(nil).0 }
      throw HTTPError(404, "Not Found")
    }
    if found.isDeleted, query.deleted == .none, !query.includesSuperseded {
      throw HTTPError(
        409,
        "The requested event has been deleted. To see information for deleted events, perform a search and use the \"includedeleted\" option."
      )
    }
    if format == .geojson, let event = found.event { return try detail(event) }
    return try write(found.event == nil ? nil : FDSNQuery.event(found.code)).0
  }

  /// How many events a query matches; at most its limit.
  func count() throws -> Int {
    if let id = query.eventID {
      guard let found = try find(id), found.event != nil else { return 0 }
      return found.isDeleted && query.deleted == .none && !query.includesSuperseded ? 0 : 1
    }
    return try count(query.events(now: now))
  }

  // MARK: - Searches

  private func search() throws -> Response {
    var events = query.events(now: now)
    let most = FDSNQuery.mostEvents
    events.limit = Int64(query.limit ?? most + 1)
    events.offset = Int64(query.offset - 1)
    let (response, count) = try write(query.limit == 0 ? nil : events)
    if query.limit == nil, count > 0, query.offset - 1 + count > most {
      let all = try events.count(over: connection)
      throw HTTPError(
        400,
        "\(all) matching events exceeds search limit of \(most). Modify the search to match fewer events."
      )
    }
    if count == 0 {
      try checkLists()
      if format.isQuakeML { return try nothing() }
    }
    return response
  }

  private func count(_ events: EventQuery) throws -> Int {
    guard let limit = query.limit else {
      let all = Int(try events.count(over: connection))
      // A query without a limit must not match too many events, wherever it begins.
      return all > FDSNQuery.mostEvents ? all : max(0, all - (query.offset - 1))
    }
    let (end, isTooLarge) = (query.offset - 1).addingReportingOverflow(limit)
    guard limit > 0, !isTooLarge else { return 0 }
    let counted = try events.count(atMost: Int64(end), over: connection)
    return max(0, Int(counted) - (query.offset - 1))
  }

  /// A catalogue or a contributor that no event has is an error. That is found out only if nothing matches,
  /// because it takes a look at every event.
  private func checkLists() throws {
    for (name, value, condition, values) in [
      ("catalog", query.catalog, FDSNQuery.isIn(catalog:), CatalogueLists.catalogs(over:)),
      (
        "contributor", query.contributor, FDSNQuery.isOf(contributor:),
        CatalogueLists.contributors(over:)
      ),
    ] {
      guard let value else { continue }
      var all = EventQuery()
      all.past = [.withdrawn, .superseded]
      all.filter.conditions = [condition(value)]
      if try all.count(atMost: 1, over: connection) == 0 {
        throw FDSNValue.unknown(name, value, of: try values(connection))
      }
    }
  }

  private func nothing() throws -> Response {
    guard query.statusWithoutData == 204 else { throw HTTPError(404, "Not Found") }
    return Response(204)
  }

  private func write(_ events: EventQuery?) throws -> (Response, count: Int) {
    let title =
      try format.export.hasTitle
      ? SourceTitle.text("Earthquakes", of: events, over: connection) : "Earthquakes"
    var head = DocumentHead(
      generated: now, title: title, url: request.baseURL + request.target, api: FDSNService.version)
    head.limit = query.limit
    head.offset = query.offset
    let (document, count) = try EventDocument(format: format.export, form: form)
      .made(of: events, head, over: connection)
    return (fresh(Response(body: .document(document))), count)
  }

  // MARK: - One event

  /// An event found by one of its ids.
  private struct Found {
    var code: String
    /// As it is, or was before it was deleted; nil if the history has lost it.
    var event: EventRecord?
    var isDeleted: Bool
  }

  private func find(_ id: String) throws -> Found? {
    guard id.utf8.count <= 1024 else { return nil }
    let history = EventHistory(connection: connection)
    if let event = try history.event(id), let code = event.code {
      // No format of the service can show an event without an epicentre.
      guard event.has(.longitude) else { return nil }
      return Found(
        code: code, event: event,
        isDeleted: event.has(.withdrawnAt) || event.has(.supersededBy))
    }
    guard let code = try history.code(of: id) else { return nil }
    var last: EventRecord?
    try FDSNQuery.event(code).read(over: connection) { last = $0 }
    return Found(code: code, event: last, isDeleted: true)
  }

  private func detail(_ event: EventRecord) throws -> Response {
    fresh(
      Response(
        body: .document(
          try DetailDocument.make(
            of: event, form: form, includesSuperseded: query.includesSuperseded,
            over: connection))))
  }
}

extension ErrorForm {
  /// The text that USGS's event service sends; if the client asks for `jsonerror`, a GeoJSON document with
  /// status 200.
  static let fdsn = ErrorForm(mediaType: "text/plain") { error, request, arrived in
    func has(_ name: String, _ value: String) -> Bool {
      request.query.last { $0.name == name }?.value == value
    }
    // After any other status the client has to try again, and status 200 would hide that.
    let isAnswer = [400, 404, 409, 501].contains(error.status)
    if isAnswer, has("jsonerror", "true"),
      has("format", "geojson") || request.parameters["format"] == "geojson"
    {
      return json(error, request, arrived)
    }
    let time = "\(arrived)".prefix(19)
    return .text(
      """
      Error \(error.status): \(error.title)

      \(error.detail)

      Usage details are available from \(request.baseURL)\(FDSNService.path)/

      Request:
      \(request.target)

      Request Submitted:
      \(time)+00:00

      Service version:
      \(FDSNService.version)

      """, status: error.status, error.headers)
  }

  private static func json(_ error: HTTPError, _ request: Request, _ arrived: Timestamp) -> Response
  {
    let isDetail =
      error.status != 400 && request.query.contains { $0.name == "eventid" && !$0.value.isEmpty }
    var json = JSONWriter()
    json.object { json in
      json.member("type", isDetail ? "Feature" : "FeatureCollection")
      json.object("metadata") { json in
        json.member("status", error.status)
        json.member("generated", Int(arrived.microseconds / 1000))
        json.member("url", request.baseURL + request.target)
        json.member("title", "Search Error")
        json.member("api", FDSNService.version)
        json.member("count", 0)
        json.member("error", error.detail)
      }
      json.key(isDetail ? "properties" : "features")
      if isDetail { json.null() } else { json.array { _ in } }
    }
    return Response(
      200, error.headers,
      body: .document(Document(json.take(), contentType: "application/json; charset=utf-8")))
  }
}
