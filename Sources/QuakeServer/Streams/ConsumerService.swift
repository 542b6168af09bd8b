import CommandLine
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// Consumers over HTTP: named cursors on the server, which clients with a token move by acknowledging what they have
/// handled.
struct ConsumerService: Sendable {
  private let streams: ChangeStreams

  init(_ streams: ChangeStreams) {
    self.streams = streams
  }

  var routes: [Route] {
    [Self.stateRoute, Self.takeRoute, changesRoute, Self.acknowledgeRoute]
  }

  private static let name = Operation.Parameter(
    "name", .string(pattern: "^[A-Za-z0-9._-]{1,64}$"), "the consumer, one of the token's",
    in: .path,
    example: "pager")
  private static let session = Option.value(
    "session", "TEXT",
    help: """
      what tells this client from others that use the name: 1 to 64 letters, digits, dots, dashes and underscores that it \
      has chosen at random
      """)
  private static let refusals: [Operation.Answer] = [
    .init(401, "The token is missing or not valid.", [APIService.problem], schema: "Problem"),
    .init(
      403, "The server has no tokens for consumers, or its role may not keep cursors.",
      [APIService.problem], schema: "Problem"),
  ]
  private static let lost = Operation.Answer(
    409,
    "Another client has taken the consumer, or somebody has rewound it: ask for its changes anew.",
    [APIService.problem], schema: "Problem")
  private static let unknown = Operation.Answer(
    404, "The token has no consumer of this name.", [APIService.problem], schema: "Problem")

  // MARK: - State

  private static let stateRoute = Route(
    method: .get, path: "/v1/consumers/{name}",
    operation: Operation(
      "getConsumer", "the acknowledged place of a consumer", tag: "consumers",
      description: "`cursor` is null if the token has no consumer of this name yet.",
      parameters: [name],
      answers: [.init(200, "The consumer.", [APIService.json], schema: "Consumer")] + refusals),
    access: .consumer,
    handler: .query { request, context in
      _ = try APIParameters.read(request, [])
      let consumer = try consumer(request, session: "")
      return answer(request, try consumer.state(over: context.connection))
    })

  private static let takeOptions: [Option] = [
    session,
    .value(
      "from", "CURSOR|NUMBER|TIME", default: "now",
      help: """
        where a new consumer begins: after this cursor or transaction, or the last one that was committed by this time
        """
    ),
  ]

  private static let takeRoute = Route(
    method: .post, path: "/v1/consumers/{name}",
    operation: Operation(
      "takeConsumer", "create a consumer, or take it over from another client", tag: "consumers",
      description: """
        A consumer that exists stays where it is. Its cursor holds purges of the history back, and any server of \
        the same database goes on with it. A token has at most \(RemoteConsumer.mostNames) consumers.
        """,
      parameters: [name] + APIParameters.describe(takeOptions),
      answers: [
        .init(200, "The consumer.", [APIService.json], schema: "Consumer"),
        .init(
          409, "The token has too many consumers, or the name is that of another watcher.",
          [APIService.problem], schema: "Problem"),
      ] + refusals),
    access: .consumer,
    handler: .query { request, context in
      let arguments = try APIParameters.read(request, takeOptions)
      try APIService.refuseBody(request)
      let connection = context.connection
      let consumer = try consumer(request, session: arguments.string("session") ?? "")
      // A mistake is one also if the consumer exists.
      let from = arguments.string("from").flatMap { $0 == "now" ? nil : $0 }
      let cursor = from.flatMap { HistoryCursor(eventID: $0) }
      let place = try cursor.map { .token($0.token) } ?? from.map { try arguments.place($0) }
      if let state = try consumer.take(over: connection) { return answer(request, state) }
      let token = try place?.resolve(over: connection) ?? context.token
      let start = HistoryCursor(token: token, changes: cursor?.changes ?? 0)
      return answer(request, try consumer.make(at: start, over: connection))
    })

  // MARK: - Changes

  private static let changesOptions: [Option] =
    [session] + ChangeStreamParameters.options.filter { !["after", "snapshot"].contains($0.name) }

  private var changesRoute: Route {
    Route(
      method: .get, path: "/v1/consumers/{name}/changes",
      operation: Operation(
        "streamConsumer", "follow the changes after the acknowledged place", tag: "consumers",
        description: """
          The stream of `/v1/changes`, with its forms and filters, from the consumer's cursor on: what was not \
          acknowledged comes again. The client takes the consumer over. `Last-Event-ID` is ignored.
          """,
        parameters: [Self.name] + APIParameters.describe(Self.changesOptions),
        answers: [
          .init(200, "The stream.", ["text/event-stream", "application/x-ndjson"]), Self.unknown,
          .init(
            503, "The consumer is paused, or the database is not available.",
            [APIService.problem], schema: "Problem"),
        ] + Self.refusals),
      access: .consumer,
      handler: .query { [streams] request, context in
        let arguments = try APIParameters.read(request, Self.changesOptions)
        var order = try ChangeStreamParameters.order(arguments, request)
        let consumer = try Self.consumer(request, session: arguments.string("session") ?? "")
        guard let state = try consumer.state(over: context.connection) else {
          throw Self.unknown(request)
        }
        guard state.pausedAt == nil else {
          throw HTTPError(
            503, "The consumer is paused. \"quake-admin consumers resume\" resumes it.",
            ["Retry-After": "60"])
        }
        guard let taken = try consumer.take(over: context.connection) else {
          throw HTTPError(403, "The consumer belongs to another role of the database.")
        }
        order.start = .after(taken.cursor)
        return ChangeStreamService.response(order, streams)
      })
  }

  // MARK: - Acknowledging

  private static let acknowledgeOptions: [Option] = [
    .value(
      "cursor", "CURSOR",
      help:
        "the id of the last event that was handled: all before it are handled as well; by default none more"
    ),
    session,
  ]

  private static let acknowledgeRoute = Route(
    method: .post, path: "/v1/consumers/{name}/ack",
    operation: Operation(
      "acknowledge", "note that everything up to a cursor has been handled", tag: "consumers",
      description: """
        It also shows that a client runs. The cursor is the id of an event of the stream, also of a heartbeat, so that the place also moves while no \
        change passes the filter. It only moves forward: an earlier cursor changes nothing. The answer has the \
        cursor that is stored now, and comes when it is on the disk. `paused_at` is not null while the consumer is \
        paused: then stop to follow, and ask again from time to time.
        """,
      parameters: [name] + APIParameters.describe(acknowledgeOptions),
      answers: [
        .init(200, "The consumer.", [APIService.json], schema: "Consumer"),
        .init(
          400, "The parameter cursor is no cursor.", [APIService.problem],
          schema: "Problem"), unknown, lost,
        .init(
          410, "The history at the cursor was purged.", [APIService.problem], schema: "Problem"),
      ] + refusals),
    access: .consumer,
    handler: .query { request, context in
      let arguments = try APIParameters.read(request, acknowledgeOptions)
      try APIService.refuseBody(request)
      let cursor = try arguments.string("cursor").map { text throws(HTTPError) in
        guard let cursor = HistoryCursor(eventID: text) else {
          throw HTTPError(
            400, "The parameter cursor must be a cursor: the id of an event, such as 1042.9f3ac2d1."
          )
        }
        return cursor
      }
      let consumer = try consumer(request, session: arguments.string("session") ?? "")
      switch try consumer.acknowledge(cursor, over: context.connection) {
      case .stored(let state): return answer(request, state)
      case .lost:
        throw HTTPError(
          409,
          "Another client has taken the consumer, or somebody has rewound it. Ask for its changes anew."
        )
      case .unknown: throw unknown(request)
      }
    })

  // MARK: - Parts

  private static func consumer(
    _ request: Request, session: String
  ) throws(HTTPError) -> RemoteConsumer {
    guard let name = request.parameters["name"], let author = request.author,
      let consumer = RemoteConsumer(name, of: author, session: session)
    else {
      throw HTTPError(
        400,
        "The name of a consumer, and a session, have 1 to 64 letters, digits, dots, dashes and underscores."
      )
    }
    return consumer
  }

  private static func unknown(_ request: Request) -> HTTPError {
    HTTPError(
      404,
      "The token has no consumer of this name. POST \(request.baseURL)/v1/consumers/NAME creates one."
    )
  }

  private static func answer(_ request: Request, _ state: RemoteConsumer.State?) -> Response {
    JSONDocument.response(200) { json in
      json.object { json in
        json.member("name", request.parameters["name"])
        json.member("cursor", state?.cursor.eventID)
        json.member("paused_at", state?.pausedAt)
      }
    }
  }
}
