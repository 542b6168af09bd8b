import QuakeConsumers
import QuakeModel

/// Lets as many messages of a consumer pass as its limit allows, and counts the others.
///
/// A conversation is told as a whole: if its first message is dropped, so are the others. What was told is always
/// corrected.
struct MessageGate {
  private var limiter: RateLimiter?
  /// How many messages were held back in all.
  private(set) var total: Int64

  init(_ limit: RateLimit?, total: Int64) {
    limiter = limit.map { RateLimiter($0) }
    self.total = total
  }

  /// Begins anew with what is in the database.
  mutating func restart(total: Int64) { self.total = total }

  mutating func admits(_ change: Change) -> Bool {
    guard limiter?.admits() != false else {
      total += 1
      return false
    }
    return true
  }

  mutating func admits(_ alert: Alert) -> Bool {
    if alert.isMuted {
      limiter?.hold()
    } else if alert.kind != .opened || limiter?.admits() != false {
      return true
    }
    total += 1
    return false
  }

  /// How many were held back since the last call.
  mutating func takeHeldBack() -> Int { limiter?.takeHeldBack() ?? 0 }
}
