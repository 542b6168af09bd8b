import CommandLine
import QuakeTool

/// Live changes in EMSC's message form over a WebSocket: `/standing_order/websocket`.
struct LiveFeedService {
  private let streams: ChangeStreams

  init(_ streams: ChangeStreams) {
    self.streams = streams
  }

  var routes: [Route] {
    [
      Route(
        method: .get, path: "/standing_order/websocket", operation: Self.operation,
        handler: .immediate { [streams] request in
          let order = try ChangeStreamParameters.liveFeedOrder(request)
          return Response(
            101, try WebSocketHandshake.answer(request), body: .upgrade { streams.add($0, order) })
        })
    ]
  }

  private static let operation = Operation(
    "liveFeed", "Follow the changes over a WebSocket", tag: "Changes",
    description: """
      Sends each change as a message in the form of EMSC's live feed: action (create, update or delete), data \
      (a GeoJSON feature) and cursor. A client that comes back with the last cursor in the parameter after \
      goes on there; if that is not possible, it gets the action reset and should read the list anew.
      """,
    parameters: ChangeStreamParameters.liveFeedOptions.map { option in
      Operation.Parameter(option.name, .string(), option.help)
    },
    answers: [
      Operation.Answer(101, "The connection changes to the WebSocket protocol"),
      Operation.Answer(
        400, "The request is not one for a WebSocket, or a parameter is not valid",
        ["application/problem+json"]),
    ])
}
