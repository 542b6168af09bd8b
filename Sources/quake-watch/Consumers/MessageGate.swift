import QuakeConsumers
import QuakeModel

/// Lets as many messages of a consumer pass as its limit allows, and counts the others.
///
/// A conversation is told as a whole: if its first message is dropped, so are the others. Who was told of an earthquake
/// is told in any case what becomes of it.
struct MessageGate {
  enum Verdict {
    case passes
    case isHeldBack
    /// It is held back, and with it all others of its conversation.
    case isMuted
  }

  private var limiter: RateLimiter?
  /// How many messages were held back in all.
  private(set) var total: Int64
  private var muted: Set<String> = []

  init(_ limit: RateLimit?, total: Int64) {
    limiter = limit.map { RateLimiter($0) }
    self.total = total
  }

  /// Begins anew with what is in the database.
  mutating func restart(total: Int64, muted: Set<String>) {
    self.total = total
    self.muted = muted
  }

  mutating func admits(_ change: Change) -> Bool {
    guard limiter?.admits() != false else {
      total += 1
      return false
    }
    return true
  }

  mutating func admits(_ alert: Alert) -> Verdict {
    if muted.contains(alert.conversation) {
      limiter?.hold()
      total += 1
      if alert.kind == .closed { muted.remove(alert.conversation) }
      return .isHeldBack
    }
    // What was told is corrected in any case.
    guard alert.number == 1 else { return .passes }
    guard limiter?.admits() != false else {
      total += 1
      muted.insert(alert.conversation)
      return .isMuted
    }
    return .passes
  }

  /// How many were held back since the last call.
  mutating func takeHeldBack() -> Int { limiter?.takeHeldBack() ?? 0 }
}
