import Basics
import QuakeTool
import Synchronization

extension PrometheusText {
  /// Writes the values of a histogram that was begun.
  mutating func histogram(_ name: String, _ labels: [(String, String)] = [], _ histogram: Histogram)
  {
    let (counts, sum, total) = histogram.values
    var count: Int64 = 0
    for (bound, more) in zip(histogram.bounds, counts) {
      count += more
      value(name + "_bucket", labels + [("le", Self.number(bound))], Double(count))
    }
    value(name + "_bucket", labels + [("le", "+Inf")], Double(total))
    value(name + "_sum", labels, sum)
    value(name + "_count", labels, Double(total))
  }
}

/// A histogram of durations in Prometheus's form: how many were at most each bound.
final class Histogram: Sendable {
  private struct State {
    var counts: [Int64]
    var sum = 0.0
    var total: Int64 = 0
  }

  /// The upper bounds of the classes in seconds, ascending.
  let bounds: [Double]
  private let state: Mutex<State>

  init(
    _ bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  ) {
    self.bounds = bounds
    state = Mutex(State(counts: Array(repeating: 0, count: bounds.count)))
  }

  func add(_ duration: Duration) {
    let seconds = duration.inSeconds
    let place = bounds.firstIndex { seconds <= $0 }
    state.withLock { state in
      if let place { state.counts[place] += 1 }
      state.sum += seconds
      state.total += 1
    }
  }

  /// The counts of the classes, not added up; the sum of the durations in seconds, and their number.
  var values: (counts: [Int64], sum: Double, total: Int64) {
    state.withLock { ($0.counts, $0.sum, $0.total) }
  }
}

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
  func add(_ request: EventServer.AccessRecord) {
    let method = Request.Method(request.method) == .other ? "other" : request.method
    let key = Key(route: request.route ?? "none", method: method, status: request.status)
    counts.withLock { $0[key, default: 0] += 1 }
    if request.size != nil { durations.add(request.duration) }
  }

  func write(to text: inout PrometheusText) {
    let all = counts.withLock { $0 }.sorted {
      ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status)
    }
    text.begin("quake_http_requests_total", .counter, "Requests that were answered.")
    for (key, count) in all {
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
