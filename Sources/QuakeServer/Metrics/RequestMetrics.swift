import Basics
import Synchronization

/// Counts requests by route and status, and the time that their answers took.
final class RequestMetrics: Sendable {
  private struct Key: Hashable {
    let route: String
    let method: String
    let status: Int
  }

  private let counts = Mutex<[Key: Int64]>([:])
  private let durations = Histogram()

  /// Counts a request. Those without a route are counted together, so that their number stays bounded.
  func add(_ request: RequestObserver.Completed) {
    let method = Request.Method(request.method) == .other ? "other" : request.method
    let key = Key(route: request.route ?? "none", method: method, status: request.status)
    counts.withLock { $0[key, default: 0] += 1 }
    if request.size != nil { durations.add(request.duration) }
  }

  /// Writes the counts and the durations.
  func write(to text: inout PrometheusText) {
    text.begin("quake_http_requests_total", .counter, "Requests that were answered.")
    let all = counts.withLock { $0 }
    for (key, count) in all.sorted(by: {
      ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status)
    }) {
      text.value(
        "quake_http_requests_total",
        [("route", key.route), ("method", key.method), ("status", "\(key.status)")], Double(count))
    }
    text.begin(
      "quake_http_request_duration_seconds", .histogram,
      "Time from the first line of a request to the end of its answer, without streams.")
    text.histogram("quake_http_request_duration_seconds", [], durations)
  }
}
