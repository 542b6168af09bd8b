import Postgres
import QuakeFormat
import QuakeHistory
import QuakeModel
import QuakeQuery

/// USGS's summary feeds and detail documents, made from the store.
///
/// A document is made once for a token of the store and a minute, whoever asks: `generated` and the entity tag
/// belong to it. Parameters in the address are ignored, because some clients add one to get past caches.
struct FeedService {
  private static let path = "/earthquakes/feed/v1.0"

  var routes: [Route] { ServedFeedFormat.allCases.flatMap { [summary($0)] + detail($0) } }

  private func summary(_ format: ServedFeedFormat) -> Route {
    Route(
      method: .get, path: "\(Self.path)/summary/{feed}.\(format.rawValue)",
      operation: Operation(
        "summaryFeed_\(format.rawValue)", "The latest events as \(format.rawValue)", tag: "Feeds",
        description: """
          The events of the past hour, day, week or month, in the form of USGS's feeds. The name of \
          a KML document may end in _age.
          """,
        parameters: [
          Operation.Parameter(
            "feed", .choice(SummaryFeed.all.map(\.name)), "the threshold and the window", in: .path,
            example: "2.5_day")
        ],
        answers: [
          Operation.Answer(200, "The feed", [Self.mediaType(format)]),
          Operation.Answer(404, "There is no such feed", ["application/problem+json"]),
        ]),
      caching: .forAtMost(.seconds(60)),
      handler: .query { request, context in try Self.summary(request, format, context) })
  }

  private func detail(_ format: ServedFeedFormat) -> [Route] {
    guard format != .atom else { return [] }
    return [
      Route(
        method: .get, path: "\(Self.path)/detail/{id}.\(format.rawValue)",
        operation: Operation(
          "detail_\(format.rawValue)", "One event as \(format.rawValue)", tag: "Feeds",
          parameters: [
            Operation.Parameter(
              "id", .string(), "any id that the event has or had", in: .path, example: "us7000abcd")
          ],
          answers: [
            Operation.Answer(200, "The event", [Self.mediaType(format)]),
            Operation.Answer(404, "There is no event with this id", ["text/plain"]),
            Operation.Answer(409, "The event with this id has been deleted", ["text/plain"]),
          ]),
        errors: .fdsn, caching: .forAtMost(.seconds(60)),
        handler: .query { request, context in try Self.detail(request, format, context) })
    ]
  }

  private static func mediaType(_ format: ServedFeedFormat) -> String {
    String(format.export.mediaType.prefix { $0 != ";" })
  }

  // MARK: - Documents

  private static func summary(
    _ request: Request, _ format: ServedFeedFormat, _ context: QueryContext
  ) throws -> Response {
    var name = request.parameters["feed"] ?? ""
    // USGS's names of KML documents tell what the colours mean.
    let colour = "_age"
    if format == .kml, name.hasSuffix(colour) { name.removeLast(colour.count) }
    guard let feed = SummaryFeed(name: name) else {
      throw HTTPError(
        404,
        "There is no such feed. The feeds are \(SummaryFeed.all.map(\.name).joined(separator: ", "))."
      )
    }
    let now = Timestamp.now()
    let url = request.baseURL + request.path
    let query = query(feed, format, now: now)
    var title = feed.subject
    if format.export.hasTitle {
      title = try SourceTitle.text(title, of: query, over: context.connection)
    }
    let form = ServiceForm(baseURL: request.baseURL, detail: .feed)
    let document = EventDocument(format: format.export, form: form)
    let head = DocumentHead(
      generated: now, title: title, url: url, api: FDSNService.version)
    let (made, _) = try document.made(of: query, head, over: context.connection)
    return Response(body: .document(made)).kept(forAMinuteFrom: now)
  }

  /// The events of a feed at a moment. Those without an epicentre are left out: no map can show them.
  private static func query(_ feed: SummaryFeed, _ format: ServedFeedFormat, now: Timestamp)
    -> EventQuery
  {
    var query = EventQuery()
    query.filter.earliestTime = Timestamp(
      microseconds: now.microseconds - feed.window.seconds * 1_000_000)
    query.filter.minimumMagnitude = feed.threshold.magnitude
    query.filter.conditions = [.isPresent(.longitude)]
    if let significance = feed.threshold.significance {
      query.filter.conditions.append(.atLeast(.sig, Double(significance)))
    }
    // A viewer of KML draws the first events on top.
    if format == .kml { query.order = [.greatestFirst, .newestFirst] }
    return query
  }

  private static func detail(
    _ request: Request, _ format: ServedFeedFormat, _ context: QueryContext
  ) throws -> Response {
    let id = QueryItem(name: "eventid", value: request.parameters["id"] ?? "")
    var query = try FDSNQuery([id], format: FDSNFormat(rawValue: format.rawValue))
    query.statusWithoutData = 404
    let answer = FDSNAnswer(query, request, over: context.connection, detail: .feed)
    return try context.connection.atOneMoment { try answer.response() }
  }
}

extension Response {
  /// The response with the headers of USGS's documents, which a cache may keep for a minute.
  func kept(forAMinuteFrom time: Timestamp) -> Response {
    var response = self
    let end = Timestamp(microseconds: time.microseconds + 60_000_000)
    response.headers.append("Cache-Control", "public, max-age=60")
    response.headers.append("Expires", HTTPDate.text(end))
    response.headers.append("Last-Modified", HTTPDate.text(time))
    return response
  }
}

/// The formats of the feeds, as they end the addresses.
enum ServedFeedFormat: String, CaseIterable {
  case geojson
  case csv
  case atom
  case quakeml
  case kml

  var export: ExportFormat {
    switch self {
    case .geojson: .geojson
    case .csv: .csv
    case .atom: .atom
    case .quakeml: .quakeml
    case .kml: .kml
    }
  }
}

/// Makes documents of events. Memory does not depend on their number.
struct EventDocument {
  var format: ExportFormat
  var form: ServiceForm

  /// The number of bytes that are collected before they are handed over.
  private static let partSize = 64 << 10

  /// The document of a query's events, and their number.
  ///
  /// - Parameter query: The events; nil: none.
  func made(
    of query: EventQuery?, _ head: DocumentHead, over connection: Connection
  ) throws -> (Document, count: Int) {
    var document = DocumentWriter(contentType: format.mediaType)
    var counted =
      format.needsCount
      ? try CountedHead(head, most: query?.limit, in: &document) { format.makeWriter(form: form) }
      : nil
    var writer = format.makeWriter(form: form)
    if counted == nil { writer.begin(head) }
    var count = 0
    if var query {
      query.columns = format.columns
      try query.read(over: connection) { event in
        count += 1
        writer.event(event, revision: nil)
        if writer.count >= Self.partSize { try writer.drain { try document.write($0) } }
      }
    }
    writer.end()
    try writer.drain { try document.write($0) }
    try counted?.fill(count, in: &document)
    return (document.finish(), count)
  }
}

/// The document about one event, with the products that the store knows of.
enum DetailDocument {
  /// The columns that an origin consists of.
  private static let origin: Set<String> = Set(
    [
      EventColumn.time, .longitude, .latitude, .depth, .magnitude, .magnitudeType, .status, .type,
      .nst, .dmin, .rms, .gap,
    ].map(\.name))

  /// - Parameter includesSuperseded: Whether the products have the event's earlier origins, too.
  static func make(
    of event: EventRecord, form: ServiceForm, includesSuperseded: Bool = false,
    over connection: Connection
  ) throws -> Document {
    var earlier: [EventRecord] = []
    if includesSuperseded, let code = event.code {
      try EventHistory(connection: connection).versions(of: code) { version in
        guard let old = version.old, version.changed.contains(where: origin.contains) else {
          return
        }
        earlier.append(old)
        // The latest are enough, and memory is limited.
        if earlier.count > 1000 { earlier.removeFirst() }
      }
    }
    let bytes = DetailWriter.document(of: event, earlier: earlier, form: form)
    return Document(bytes, contentType: ExportFormat.geojson.mediaType)
  }
}
