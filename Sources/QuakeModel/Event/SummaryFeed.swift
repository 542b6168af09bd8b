/// One of the twenty summary feeds of USGS: a magnitude and a window.
public struct SummaryFeed: Sendable, Hashable {
  /// The least magnitude or significance of the feed's events.
  public enum Threshold: String, CaseIterable, Sendable {
    /// A significance of 600.
    case significant
    /// Magnitude 4.45.
    case magnitude4_5 = "4.5"
    /// Magnitude 2.45.
    case magnitude2_5 = "2.5"
    /// Magnitude 0.95.
    case magnitude1_0 = "1.0"
    /// No threshold: events without a magnitude are included.
    case all

    /// The least magnitude; nil for events of every magnitude. The names are rounded: feed 2.5 begins at 2.45, as in
    /// USGS's own service.
    public var magnitude: Double? {
      switch self {
      case .magnitude4_5: 4.45
      case .magnitude2_5: 2.45
      case .magnitude1_0: 0.95
      case .significant, .all: nil
      }
    }

    /// The least significance; nil for events of every significance.
    public var significance: Int? { self == .significant ? 600 : nil }
  }

  /// How far back the feed reaches.
  public enum Window: String, CaseIterable, Sendable {
    /// 1 hour.
    case hour
    /// 24 hours.
    case day
    /// 7 days.
    case week
    /// 30 days.
    case month

    /// The window in seconds.
    public var seconds: Int64 {
      switch self {
      case .hour: 3600
      case .day: 86_400
      case .week: 7 * 86_400
      case .month: 30 * 86_400
      }
    }
  }

  /// The threshold.
  public var threshold: Threshold
  /// How far back it reaches.
  public var window: Window

  /// The feed of a threshold and a window.
  public init(_ threshold: Threshold, _ window: Window) {
    self.threshold = threshold
    self.window = window
  }

  /// The feed called `name` (`all_hour`, `2.5_week`), or nil.
  public init?(name: String) {
    guard let feed = Self.all.first(where: { $0.name == name }) else { return nil }
    self = feed
  }

  /// The twenty of them.
  public static let all: [SummaryFeed] = Threshold.allCases.flatMap { threshold in
    Window.allCases.map { SummaryFeed(threshold, $0) }
  }

  /// No feed holds more events than this.
  public static let maximumCount = 30_000

  /// As in the address: `all_hour`.
  public var name: String { "\(threshold.rawValue)_\(window.rawValue)" }

  /// As in the metadata, without the source: `All Earthquakes, Past Hour`.
  package var subject: String {
    let what =
      switch threshold {
      case .significant: "Significant"
      case .all: "All"
      default: "Magnitude \(threshold.rawValue)+"
      }
    let window =
      switch window {
      case .hour: "Hour"
      case .day: "Day"
      case .week: "Week"
      case .month: "Month"
      }
    return "\(what) Earthquakes, Past \(window)"
  }
}

/// The events that a snapshot should contain, from which missing ones are determined.
public struct FeedScope: Sendable, Hashable {
  /// The feed's name, such as `all_day`, independent of its URL or file.
  public var name: String
  /// The catalogue whose events it holds, as in `EventRecord`'s `source`.
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
