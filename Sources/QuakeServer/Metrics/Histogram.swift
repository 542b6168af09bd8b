import Basics
import Synchronization

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

  /// Counts a duration `times` times.
  func add(_ duration: Duration, times: Int64 = 1) {
    let seconds = duration.inSeconds
    let place = bounds.firstIndex { seconds <= $0 }
    state.withLock { state in
      if let place { state.counts[place] += times }
      state.sum += seconds * Double(times)
      state.total += times
    }
  }

  /// The counts of the classes, not added up; the sum of the durations in seconds, and their number.
  var values: (counts: [Int64], sum: Double, total: Int64) {
    state.withLock { ($0.counts, $0.sum, $0.total) }
  }
}
