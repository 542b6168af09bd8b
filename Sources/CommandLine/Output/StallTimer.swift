import Basics

/// Calls back once when the total time blocked exceeds the limit, because a blocked program neglects its
/// other work.
public final class StallTimer {
  /// The limit of the total time blocked.
  public static let patience = Duration.milliseconds(250)

  private let onStall: () -> Void
  private var remaining = StallTimer.patience
  private var isTold = false

  /// A timer that calls `onStall` when the total reaches `patience`.
  public init(onStall: @escaping () -> Void) {
    self.onStall = onStall
  }

  /// Sets the total to zero.
  public func reset() {
    remaining = Self.patience
    isTold = false
  }

  /// Calls `isOver` until it returns true. It must wait with poll(2), at most for the given duration; nil
  /// means for ever.
  public func wait(_ isOver: (Duration?) -> Bool) {
    while !isTold {
      let start = MonotonicClock.now()
      let isOver = isOver(remaining)
      remaining -= MonotonicClock.now() - start
      if isOver { return }
      if remaining <= .zero {
        isTold = true
        onStall()
      }
    }
    while !isOver(nil) {}
  }
}
