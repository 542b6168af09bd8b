import Basics
import CommandLine
import QuakeModel
import QuakeTool

/// `/healthz`, `/readyz` and `/metrics`.
struct HealthService: Sendable {
  let writeMetrics: @Sendable (inout PrometheusText) -> Void
  /// Why the server is not ready; nil if it is.
  let unreadiness: @Sendable () -> String?
  /// Why the streams poll the database; nil if they listen.
  private let polling: @Sendable () -> String?
  private let probe: ReadinessProbe

  init(_ parts: ServerParts) {
    writeMetrics = { parts.write(to: &$0) }
    unreadiness = { parts.unreadiness }
    polling = { parts.streams.state.polling }
    probe = parts.probe
  }

  var routes: [Route] {
    [
      Route(
        method: .get, path: "/healthz",
        operation: Operation(
          "health", "whether the server runs", tag: "operation",
          answers: [.init(200, "The server runs.", ["text/plain"])]),
        handler: .immediate { _ in .text("ok\n") }),
      Route(
        method: .get, path: "/readyz",
        operation: Operation(
          "readiness", "whether the server can answer: it reaches the database and follows it",
          tag: "operation",
          description: """
            The answer comes within 2 s, also if the database is silent. With `max-lag`, a hot standby or the \
            subscriber of a logical replication that is further behind is not ready. A server that polls the \
            database instead of listening says so in a second line.
            """,
          parameters: APIParameters.describe(Self.options),
          answers: [
            .init(200, "The server is ready.", ["text/plain"]),
            .init(503, "The server is not ready.", ["application/problem+json"]),
          ]),
        handler: .later { try readiness($0, $1) }),
      Route(
        method: .get, path: "/metrics",
        operation: Operation(
          "metrics", "counters of the server in Prometheus's format", tag: "operation",
          answers: [.init(200, "The metrics.", ["text/plain"])]),
        handler: .later { _, answer in
          let writeMetrics = writeMetrics
          probe.ask { result in
            var text = PrometheusText()
            writeMetrics(&text)
            if case .success(let state) = result { state.region?.write(to: &text) }
            answer(.success(.text(text.text, type: "text/plain; version=0.0.4; charset=utf-8")))
          }
        }),
    ]
  }

  private static let options: [Option] = [
    .value(
      "max-lag", "DURATION",
      help: "not ready if the database is further behind the server that it copies")
  ]

  private func readiness(_ request: Request, _ answer: @escaping Handler.Answering) throws {
    let arguments = try APIParameters.read(request, Self.options)
    let most = try arguments.duration("max-lag", in: .milliseconds(1)...)
    let (unreadiness, polling) = (unreadiness, polling)
    if let reason = unreadiness() { throw Self.refusal(reason) }
    probe.ask { result in
      switch result {
      case .failure(let error):
        // The server is not ready whatever the reason is.
        answer(.failure(Self.refusal(HTTPError(error).detail)))
      case .success(let state):
        if let reason = unreadiness() ?? most.flatMap({ state.lateness(beyond: $0) }) {
          answer(.failure(Self.refusal(reason)))
        } else {
          let more = polling().map { "The streams poll the database: \($0).\n" } ?? ""
          answer(.success(.text("ready\n" + more)))
        }
      }
    }
  }

  private static func refusal(_ reason: String) -> HTTPError {
    HTTPError(503, reason, ["Retry-After": "5"])
  }
}

extension DatabaseState {
  /// Why the database is too far behind; nil if it is not.
  fileprivate func lateness(beyond most: Duration) -> String? {
    guard let lag else {
      return "It is not known how far the database is behind the server that it copies."
    }
    guard lag > most else { return nil }
    return "The database is \(Readable.duration(lag)) behind the server that it copies."
  }
}
