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
