/// Which events a snapshot should hold: what makes it possible to say that one is missing.
public struct FeedScope: Sendable, Hashable {
  /// The feed's name, such as `all_day`, under whatever address or in whatever file it comes.
  public var name: String
  /// The catalogue whose events it holds, as in `QuakeRecord`'s `source`.
  public var source: String
  /// How far back it reaches, in seconds.
  public var window: Int64
  /// The magnitude that an event must have; nil: any, or none at all.
  public var minimumMagnitude: Double?
  /// Whether it leaves out events by something that is not a matter of magnitude and time: then none
  /// can be said to be missing.
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

  /// Whether it holds every event there is.
  public var isWhole: Bool { minimumMagnitude == nil && !isSelective }

  /// How far from the ends of the window an event must be, in seconds, to be expected: clocks, caches
  /// and the time between the making of a snapshot and its fetching blur them.
  public var margin: Int64 { max(300, window / 48) }
}
