import SystemClock

/// Adds up the waiting for somebody else, and tells once when it has become long: who waits neglects
/// all else meanwhile.
public final class StallTimer {
  /// How long the waits may last in all before they are told of.
  public static let patience = Duration.milliseconds(250)

  private let tell: () -> Void
  private var remaining = StallTimer.patience
  private var isTold = false

  /// A timer that calls `tell` when `patience` is over.
  public init(tell: @escaping () -> Void) {
    self.tell = tell
  }

  /// Counts from nothing again.
  public func reset() {
    remaining = Self.patience
    isTold = false
  }

  /// Calls `isOver` until it returns true. It is to wait by poll(2), for no longer than it is told,
  /// nil being for ever.
  public func wait(_ isOver: (Duration?) -> Bool) {
    while !isTold {
      let start = MonotonicClock.now()
      let isOver = isOver(remaining)
      remaining -= MonotonicClock.now() - start
      if isOver { return }
      if remaining <= .zero {
        isTold = true
        tell()
      }
    }
    while !isOver(nil) {}
  }
}
