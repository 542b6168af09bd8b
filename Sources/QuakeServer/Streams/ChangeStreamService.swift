import CommandLine
import QuakeModel
import QuakeTool

/// The stream of changes: `GET /v1/changes`.
struct ChangeStreamService {
  private let streams: ChangeStreams

  init(_ streams: ChangeStreams) {
    self.streams = streams
  }

  var routes: [Route] {
    [
      Route(
        method: .get, path: "/v1/changes", operation: Self.operation,
        handler: .immediate { [streams] request in
          Self.response(try ChangeStreamParameters.order(request), streams)
        })
    ]
  }

  /// The answer that is a stream of changes.
  static func response(_ order: StreamOrder, _ streams: ChangeStreams) -> Response {
    response(order.form) { streams.add($0, order) }
  }

  /// The answer that is a stream.
  static func response(
    _ form: StreamForm, _ start: @escaping @Sendable (TakenSocket) -> Void
  ) -> Response {
    Response(
      200,
      [
        "Content-Type": form.contentType,
        // A proxy that compresses would collect what it should pass on.
        "Cache-Control": "no-store, no-transform",
        "X-Accel-Buffering": "no",
      ], body: .stream(start))
  }

  private static let operation = Operation(
    "streamChanges", "Follow the changes as they are committed", tag: "Changes",
    description: """
      Sends each change once, in commit order, as Server-Sent Events, or as one JSON object a line for \
      Accept: application/x-ndjson. The id of an event is the cursor after it: a client that sends it as \
      Last-Event-ID or in the parameter after goes on there, without a loss or a repeat. Events without a \
      name are changes. The others are named: snapshot (an event of the list), heartbeat (everything up to \
      its id has been delivered) and reset (forget the list, a new snapshot follows: the client has asked for \
      one, or its cursor is not one of this history, or no longer). The stream ends with limit or wait, and \
      when the server sends the client away, which goes on then as after a lost connection.
      """,
    parameters: [
      Operation.Parameter(
        "Last-Event-ID", .string(), "begin after this cursor; takes precedence over after",
        in: .header, example: "0")
    ]
      + APIParameters.describe(ChangeStreamParameters.options),
    answers: [
      Operation.Answer(200, "The stream", ["text/event-stream", "application/x-ndjson"]),
      Operation.Answer(
        400, "A parameter is not valid, or Last-Event-ID is not a cursor",
        ["application/problem+json"]),
      Operation.Answer(
        406, "The client accepts none of the forms", ["application/problem+json"]),
    ])
}

/// The parameters of a request for the stream of changes.
enum ChangeStreamParameters {
  /// The parameters that are not filters.
  static let options: [Option] =
    [
      .value("after", "CURSOR", help: "begin after this cursor: the id of an event, or a token"),
      .flag("snapshot", help: "begin with the present list of events"),
      .value("limit", "N", help: "end after N changes"),
      .value(
        "wait", "SECONDS",
        help: "end when there are changes, or after this time without any: a long poll"),
    ] + FilterOptions.events + FilterOptions.changes

  /// The longest wait of a long poll in seconds. Proxies end idle requests after some minutes.
  static let longestWait = 300.0

  /// The order of a request.
  ///
  /// - Throws: `UsageError` if a parameter is not valid, `HTTPError` 400 for an invalid cursor and 406 if the
  ///   client accepts none of the forms.
  static func order(_ request: Request) throws -> StreamOrder {
    let arguments = try APIParameters.read(request, options)
    try arguments.requireAtMostOne(of: "after", "snapshot")
    var order = try order(arguments, request)
    // The header is newer: a client that reconnects sends it with the address that it began with.
    if let text = request.headers["last-event-id"], !text.isEmpty {
      order.start = .after(try cursor(text, "The header Last-Event-ID"))
    } else if let text = arguments.string("after") {
      order.start = .after(try cursor(text, "The parameter after"))
    } else if arguments.flag("snapshot") {
      order.start = .snapshot
    }
    return order
  }

  /// The order of a request without the place where the stream begins.
  static func order(_ arguments: ParsedArguments, _ request: Request) throws -> StreamOrder {
    var order = StreamOrder()
    order.client = request.client
    order.filter = try FilterOptions.filter(arguments)
    order.limit = try arguments.integer("limit", in: 1...).map { Int64($0) } ?? .max
    order.wait = try arguments.double("wait", in: 0...longestWait).map { .seconds($0) }
    order.form = try form(request.headers.list("accept"), isLongPoll: order.wait != nil)
    return order
  }

  /// The parameters of the live feed over a WebSocket.
  static let liveFeedOptions: [Option] = options.filter {
    !["snapshot", "limit", "wait"].contains($0.name)
  }

  /// The order of a request for the live feed.
  ///
  /// - Throws: `UsageError`, and `HTTPError` 400 for an invalid cursor.
  static func liveFeedOrder(_ request: Request) throws -> StreamOrder {
    let arguments = try APIParameters.read(request, liveFeedOptions)
    var order = StreamOrder()
    order.client = request.client
    order.form = .webSocket
    order.filter = try FilterOptions.filter(arguments)
    if let text = arguments.string("after") {
      order.start = .after(try cursor(text, "The parameter after"))
    }
    return order
  }

  private static func cursor(_ text: String, _ place: String) throws(HTTPError) -> HistoryCursor {
    if let cursor = HistoryCursor(eventID: text) { return cursor }
    throw HTTPError(
      400,
      "\(place) is not a cursor. A cursor is the id of an event, such as 1042.9f3ac2d1, or 0 for the beginning."
    )
  }

  private static func form(
    _ accept: String?, isLongPoll: Bool
  ) throws(HTTPError) -> StreamForm {
    let usual = isLongPoll ? StreamForm.lines : .events
    guard let accept else { return usual }
    var best: (form: StreamForm, quality: Double)?
    for range in accept.lowercased().split(separator: ",") {
      let words = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let quality =
        words.dropFirst().first { $0.hasPrefix("q=") }
        .map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      let form: StreamForm? =
        switch words.first {
        case "text/event-stream", "text/*": .events
        case "application/x-ndjson", "application/ndjson", "application/jsonl",
          "application/json", "application/*":
          .lines
        case "*/*": usual
        default: nil
        }
      guard let form, quality > best?.quality ?? 0 else { continue }
      best = (form, quality)
    }
    if let best { return best.form }
    throw HTTPError(
      406, "Changes come as text/event-stream or as application/x-ndjson. Accept one of them.")
  }
}
