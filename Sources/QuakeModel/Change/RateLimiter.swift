internal import Basics

/// Decides what may be delivered within a limit, and counts the rest.
///
/// It works as a token bucket: `count` deliveries are allowed at once, and each part of the period gives one
/// back. After a quiet period, `count` are allowed at once again.
///
/// ```swift
/// var limiter = RateLimiter(limit)
/// for try await change in changes where limiter.admits() {
///   let heldBack = limiter.takeHeldBack()
///   alert(change, heldBack)
/// }
/// ```
public struct RateLimiter: Sendable {
  /// The limit.
  public let limit: RateLimit
  /// How many deliveries were refused since `takeHeldBack`.
  public private(set) var heldBack = 0
  /// How many deliveries are allowed at `moment`; a part of one grows to one.
  private var allowed: Double
  private var moment: Duration

  /// A limiter that has delivered nothing yet.
  public init(_ limit: RateLimit) {
    self.init(limit, at: MonotonicClock.now())
  }

  package init(_ limit: RateLimit, at now: Duration) {
    self.limit = limit
    allowed = Double(limit.count)
    moment = now
  }

  /// Whether a delivery is allowed now. It counts as delivered, or as held back.
  public mutating func admits() -> Bool { admits(at: MonotonicClock.now()) }

  package mutating func admits(at now: Duration) -> Bool {
    advance(to: now)
    guard allowed >= 1 else {
      hold()
      return false
    }
    allowed -= 1
    return true
  }

  /// Counts one more as held back.
  public mutating func hold() { heldBack += 1 }

  /// How many were held back since the last call.
  public mutating func takeHeldBack() -> Int {
    defer { heldBack = 0 }
    return heldBack
  }

  /// How long until a delivery is allowed; zero if one is.
  public var timeToNext: Duration { timeToNext(at: MonotonicClock.now()) }

  package func timeToNext(at now: Duration) -> Duration {
    var later = self
    later.advance(to: now)
    guard later.allowed < 1 else { return .zero }
    // A little more, so that rounding does not leave it short of one.
    return .seconds((1 - later.allowed) / later.perSecond) + .milliseconds(1)
  }

  private var perSecond: Double {
    Double(limit.count) / limit.period.inSeconds
  }

  private mutating func advance(to now: Duration) {
    let passed = (now - moment).inSeconds
    moment = now
    allowed = min(Double(limit.count), allowed + max(0, passed) * perSecond)
  }
}
