import CommandLine

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
          let order = try ChangeStreamParameters.order(request)
          return Response(
            200,
            [
              "Content-Type": order.form.contentType,
              // A proxy that compresses would collect what it should pass on.
              "Cache-Control": "no-store, no-transform",
              "X-Accel-Buffering": "no",
            ], body: .stream { streams.add($0, order) })
        })
    ]
  }

  private static let operation = Operation(
    "streamChanges", "Follow the changes as they are committed", tag: "Changes",
    description: """
      Sends each change once, in commit order, as Server-Sent Events, or as one JSON object a line for \
      Accept: application/x-ndjson. The id of an event is the cursor after it: a client that sends it as \
      Last-Event-ID or in the parameter after goes on there, without a loss or a repeat. Events without a \
      name are changes. The others are named: snapshot (an event of the list), heartbeat (everything up to \
      its id has been delivered) and reset (forget the list, a new snapshot follows: the client has asked for \
      one, or its cursor is not one of this history, or no longer). The stream ends only with limit or wait.
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
