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

    /// The least magnitude; nil for events of every magnitude.
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

  /// As in the metadata: `USGS All Earthquakes, Past Hour`.
  public var title: String { "USGS \(subject)" }

  /// The title without the source: `All Earthquakes, Past Hour`.
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
