import Basics
import CommandLine

/// Throttles the requests to an event service.
struct RequestPacer {
  private let interval: Duration
  private var due: Duration = .zero

  /// - Parameter rate: Requests a second at most.
  init(rate: Double) {
    interval = .seconds(1 / rate)
  }

  /// Waits until the next request may be sent, or a stop is requested.
  mutating func wait() {
    Self.pause(until: due)
    due = MonotonicClock.now() + interval
  }

  /// Waits for `duration`, or until a stop is requested.
  static func pause(_ duration: Duration) {
    pause(until: MonotonicClock.now() + duration)
  }

  private static func pause(until due: Duration) {
    while !Signals.stopRequested {
      let left = due - MonotonicClock.now()
      guard left > .zero else { return }
      _ = Signals.wait(timeout: left)
    }
  }
}
