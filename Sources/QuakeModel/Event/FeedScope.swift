/// The events that a snapshot should contain, from which missing ones are determined.
public struct FeedScope: Sendable, Hashable {
  /// The feed's name, such as `all_day`, independent of its URL or file.
  public var name: String
  /// The catalogue whose events it holds, as in `QuakeRecord`'s `source`.
  public var source: String
  /// How far back it reaches, in seconds.
  public var window: Int64
  /// The least magnitude of its events; nil for all events, also those without a magnitude.
  public var minimumMagnitude: Double?
  /// Whether it selects events by other criteria than magnitude and time. Then no event counts as missing.
  public var isSelective: Bool

  /// A scope of the given parts.
  public init(
    name: String, source: String, window: Int64, minimumMagnitude: Double? = nil,
    isSelective: Bool = false
  ) {
    self.name = name
    self.source = source
    self.window = window
    self.minimumMagnitude = minimumMagnitude
    self.isSelective = isSelective
  }

  /// Whether it contains all events of its window.
  public var isWhole: Bool { minimumMagnitude == nil && !isSelective }

  /// The least distance in seconds of an expected event from the ends of the window, which clocks, caches and
  /// the age of a snapshot make inexact.
  public var margin: Int64 { max(300, window / 48) }
}
