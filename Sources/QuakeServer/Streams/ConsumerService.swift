import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// Consumers over HTTP: named cursors on the server, which clients with a token move by acknowledging what they have
/// handled.
struct ConsumerService: Sendable {
  private let streams: ChangeStreams
  private let alerts: AlertStreams

  init(_ streams: ChangeStreams, _ alerts: AlertStreams) {
    self.streams = streams
    self.alerts = alerts
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
      answers: [.json(200, "The consumer.", "Consumer")] + refusals),
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
        the same database goes on with it. A token has at most \(RemoteConsumer.mostNames) consumers. With alert=true it \
        is told of earthquakes in conversations, and not of changes: the other parameters, with the meanings of the keys \
        of the same names in docs/alerting.md, say of which and when, and replace those of an earlier request.
        """,
      parameters: [name] + APIParameters.describe(takeOptions + alertOptions),
      answers: [
        .json(200, "The consumer.", "Consumer"),
        .init(
          409,
          "The token has too many consumers, the name is that of another watcher, or the consumer gets changes and not alerts.",
          [APIService.problem], schema: "Problem"),
      ] + refusals),
    access: .consumer,
    handler: .query { request, context in
      let arguments = try APIParameters.read(request, takeOptions + alertOptions)
      try APIService.refuseBody(request)
      let connection = context.connection
      let consumer = try consumer(request, session: arguments.string("session") ?? "")
      let rule = try rule(request, arguments)
      // A mistake is one also if the consumer exists.
      let from = arguments.string("from").flatMap { $0 == "now" ? nil : $0 }
      let cursor = from.flatMap { HistoryCursor(eventID: $0) }
      let place = try cursor.map { .token($0.token) } ?? from.map { try arguments.place($0) }
      guard rule == nil || cursor?.changes ?? 0 == 0 else {
        throw HTTPError(
          400, "A consumer with alert=true begins between two transactions: leave -N out of from.")
      }
      if let state = try consumer.state(over: connection) {
        guard rule == nil || state.rule != nil else {
          throw HTTPError(
            409,
            "The consumer gets changes, and cannot become one with alert=true. Choose another name."
          )
        }
        if let rule, rule != state.rule { try consumer.change(rule: rule, over: connection) }
        if let taken = try consumer.take(over: connection) { return answer(request, taken) }
      }
      if let cursor { try RemoteConsumer.verify(cursor, over: connection) }
      let token = try place?.resolve(over: connection) ?? context.token
      let start = HistoryCursor(token: token, changes: cursor?.changes ?? 0)
      return answer(request, try consumer.make(at: start, rule: rule, over: connection))
    })

  /// The parameters of a consumer with conversations.
  private static let alertOptions = AlertKeys.options.filter { option in
    !FilterOptions.changes.contains { $0.name == option.name } || option.name == "newer-than"
  }

  /// How a new consumer tells of earthquakes, as text; nil if it gets changes.
  private static func rule(_ request: Request, _ arguments: ParsedArguments) throws -> String? {
    let given = request.query.filter { item in !takeOptions.contains { $0.name == item.name } }
    guard arguments.flag("alert") else {
      guard given.allSatisfy({ $0.name == "alert" }) else {
        throw HTTPError(
          400, "Without alert=true, the conditions are parameters of the stream of the changes.")
      }
      return nil
    }
    let text = given.map { "\($0.name)=\($0.value)" }.joined(separator: "\n")
    guard text.utf8.count <= 4096 else {
      throw HTTPError(400, "The conditions are too long: they may have 4096 bytes.")
    }
    _ = try rule(text, request)
    return text
  }

  /// The rule that a text says.
  private static func rule(_ text: String, _ request: Request) throws -> AlertRule {
    let parameters = text.split(separator: "\n").map { line in
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
    }
    let keys = try ParsedArguments(
      url: request.path, options: AlertKeys.options, parameters: parameters)
    return try AlertKeys.filter(keys).1 ?? AlertRule()
  }

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
          acknowledged comes again. The client takes the consumer over. `Last-Event-ID` is ignored. A consumer with \
          alert=true gets the messages of its conversations instead: events with the name `alert`, whose id is that of \
          the message. Its conditions are those that it was made with, and this request may have none.
          """,
        parameters: [Self.name] + APIParameters.describe(Self.changesOptions),
        answers: [
          .init(200, "The stream.", ["text/event-stream", "application/x-ndjson"]), Self.unknown,
          .init(
            503,
            "The consumer is paused, the server has no place, or the database is not available.",
            [APIService.problem], schema: "Problem"),
        ] + Self.refusals),
      access: .consumer,
      handler: .query { [streams, alerts] request, context in
        let arguments = try APIParameters.read(request, Self.changesOptions)
        var order = try ChangeStreamParameters.order(arguments, request)
        let consumer = try Self.consumer(request, session: arguments.string("session") ?? "")
        guard let state = try consumer.state(over: context.connection) else {
          throw Self.unknown(request)
        }
        guard state.pausedAt == nil else {
          throw HTTPError(
            503, "The consumer is paused. \"quake-admin consumers resume\" resumes it.",
            ["Retry-After": "10"])
        }
        if let rule = state.rule {
          return try Self.alerts(
            consumer, try Self.rule(rule, request), order, arguments, alerts,
            over: context.connection)
        }
        guard let taken = try consumer.take(over: context.connection) else {
          throw HTTPError(403, "The consumer belongs to another role of the database.")
        }
        order.start = .after(taken.cursor)
        return ChangeStreamService.response(order, streams)
      })
  }

  /// The stream of a consumer with conversations.
  private static func alerts(
    _ consumer: RemoteConsumer, _ rule: AlertRule, _ order: StreamOrder,
    _ arguments: ParsedArguments, _ alerts: AlertStreams, over connection: Connection
  ) throws -> Response {
    for option in FilterOptions.events + FilterOptions.changes where arguments.isGiven(option.name)
    {
      throw HTTPError(
        400,
        "The parameter \(option.name) is for consumers of changes. POST the consumer anew to change its conditions."
      )
    }
    guard !alerts.isFull else {
      throw HTTPError(
        503, "The server has \(AlertStreams.mostStreams) streams of conversations already.",
        ["Retry-After": "30"])
    }
    let holder = consumer.makeHolder()
    guard let taken = try consumer.take(as: holder, over: connection) else {
      throw HTTPError(403, "The consumer belongs to another role of the database.")
    }
    _ = try HistoryBound.token(taken.cursor.token).resolve(over: connection)
    let alertOrder = AlertOrder(
      consumer: consumer, holder: holder, rule: rule, cursor: taken.cursor, form: order.form,
      limit: order.limit, wait: order.wait)
    return ChangeStreamService.response(order.form) { alerts.add($0, alertOrder) }
  }

  // MARK: - Acknowledging

  private static let acknowledgeOptions: [Option] = [
    .value(
      "cursor", "CURSOR",
      help:
        "the id of the last event or message that was handled: all before it are handled as well; by default none more"
    ),
    session,
  ]

  private static let acknowledgeRoute = Route(
    method: .post, path: "/v1/consumers/{name}/ack",
    operation: Operation(
      "acknowledge", "note that everything up to a cursor has been handled", tag: "consumers",
      description: """
        It also shows that a client runs. The cursor is the id of an event of the stream, also of a heartbeat, so that \
        the place also moves while no change passes the filter; with alert=true, the id of a message. It only moves \
        forward: an earlier cursor changes nothing. The answer has the cursor that is stored now, and comes when it is \
        on the disk. `paused_at` is not null while the consumer is \
        paused: then stop to follow, and ask again from time to time.
        """,
      parameters: [name] + APIParameters.describe(acknowledgeOptions),
      answers: [
        .json(200, "The consumer.", "Consumer"),
        .init(
          400, "The parameter cursor is no cursor of this consumer.", [APIService.problem],
          schema: "Problem"),
        .init(
          404, "The token has no consumer of this name, or the history has no such cursor.",
          [APIService.problem], schema: "Problem"), lost,
        .init(
          410, "The history at the cursor was purged.", [APIService.problem], schema: "Problem"),
      ] + refusals),
    access: .consumer,
    handler: .query { request, context in
      let arguments = try APIParameters.read(request, acknowledgeOptions)
      try APIService.refuseBody(request)
      let text = arguments.string("cursor")
      let cursor = text.flatMap { HistoryCursor(eventID: $0) }
      let message = cursor == nil ? text : nil
      let malformed = HTTPError(
        400,
        "The parameter cursor must be the id of an event, such as 1042.9f3ac2d1, or of a message of a consumer with alert=true, such as 1042.9f3ac2d1-0-1."
      )
      if let message, !Message.isAlertID(message) { throw malformed }
      let consumer = try consumer(request, session: arguments.string("session") ?? "")
      let outcome =
        try message.map { try consumer.acknowledge(message: $0, over: context.connection) }
        ?? consumer.acknowledge(cursor, over: context.connection)
      switch outcome {
      case .stored(let state):
        guard text == nil || (message == nil) == (state.rule == nil) else { throw malformed }
        return answer(request, state)
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
        json.member("alert", state?.rule != nil)
      }
    }
  }
}
