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

/// How many deliveries are allowed in a time: `10/h`.
public struct RateLimit: Hashable, Sendable {
  /// The number of deliveries.
  public let count: Int
  /// The time.
  public let period: Duration

  /// The most deliveries in a time.
  public static let greatestCount = 1_000_000

  /// A limit of `count` deliveries in each `period`; nil if the count is not from 1 to 1,000,000, or the
  /// period not from a millisecond to 366 days.
  public init?(_ count: Int, per period: Duration) {
    guard (1...Self.greatestCount).contains(count),
      (.milliseconds(1) ... .seconds(366 * 86_400)).contains(period)
    else { return nil }
    self.count = count
    self.period = period
  }

  private static let units: [(name: String, seconds: Int)] = [
    ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
  ]

  /// Reads `10/h`: a number in a second (`s`), minute (`m`), hour (`h`) or day (`d`); nil if the text is
  /// anything else.
  public init?(text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let count = Int(parts[0]), let unit = Self.units.first(where: { $0.name == parts[1] })
    else { return nil }
    self.init(count, per: .seconds(unit.seconds))
  }

  /// The limit as `init(text:)` reads it, if it is of one unit.
  public var text: String {
    let unit = Self.units.first { .seconds($0.seconds) == period }
    return "\(count)/\(unit?.name ?? "\(period)")"
  }
}
