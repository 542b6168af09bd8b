import Glibc
import QuakeTool
import Synchronization

/// `/healthz`, `/readyz` and `/metrics`.
struct HealthService: Sendable {
  /// Writes the metrics of the server's parts.
  let writeMetrics: @Sendable (inout PrometheusText) -> Void
  /// Why the server is not ready; nil if it is.
  let unreadiness: @Sendable () -> String?

  init(_ parts: ServerParts) {
    writeMetrics = { parts.write(to: &$0) }
    unreadiness = { parts.unreadiness }
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
          answers: [
            .init(200, "The server is ready.", ["text/plain"]),
            .init(503, "The server is not ready.", ["application/problem+json"]),
          ]),
        handler: .query { _, _ in
          if let reason = unreadiness() {
            throw HTTPError(503, reason, ["Retry-After": "5"])
          }
          return .text("ready\n")
        }),
      Route(
        method: .get, path: "/metrics",
        operation: Operation(
          "metrics", "counters of the server in Prometheus's format", tag: "operation",
          answers: [.init(200, "The metrics.", ["text/plain"])]),
        handler: .immediate { _ in
          var text = PrometheusText()
          writeMetrics(&text)
          return .text(text.text, type: "text/plain; version=0.0.4; charset=utf-8")
        }),
    ]
  }
}
