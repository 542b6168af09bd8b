public import QuakeModel

/// A key by which events are grouped.
public enum EventKey: Sendable, Hashable {
  /// The place without distance and direction, such as `Pāhala, Hawaii` (`PlaceName.locality`).
  case place
  /// The last part of the place, such as `Hawaii` (`PlaceName.region`).
  case region
  /// The network (`net`).
  case network
  /// The type of event.
  case type
  /// The status, as feeds spell it.
  case status
  /// The day of the origin time in UTC.
  case day
  /// The hour of the origin time in UTC: each hour of each day.
  case hour
  /// The month of the origin time in UTC.
  case month
  /// Classes of the magnitude of this width. A class of 0.1 has the magnitudes that are nearest to it, as that of
  /// the b-value; wider ones consist of whole classes of 0.1, and have the magnitude of the lowest.
  case magnitude(classWidth: Double)

  /// A value of the key.
  public enum Value: Sendable, Hashable {
    /// A text.
    case text(String)
    /// The start of a day, an hour or a month.
    case time(Timestamp)
    /// The least magnitude of a class.
    case number(Double)
  }

  /// Whether its values have an order of their own: times and magnitudes.
  public var hasNaturalOrder: Bool {
    switch self {
    case .day, .hour, .month, .magnitude: true
    case .place, .region, .network, .type, .status: false
    }
  }

  /// The expression for an event with this alias.
  func expression(alias: String, classWidth: String) -> String {
    switch self {
    case .place: "quake.locality(\(alias).place)"
    case .region: "quake.region(\(alias).place)"
    case .network: "\(alias).net"
    case .type: "\(alias).type"
    case .status: "\(alias).status"
    case .day: Self.truncated("day", alias)
    case .hour: Self.truncated("hour", alias)
    case .month: Self.truncated("month", alias)
    case .magnitude:
      // The small numbers make up for multiples that are no binary fractions, such as 0.3 with a width of 0.1.
      """
      (pg_catalog.round((pg_catalog.floor(\
      pg_catalog.floor(\(alias).magnitude / least(\(classWidth), 0.1) + 0.5 + 1e-9) \
      * least(\(classWidth), 0.1) / \(classWidth) + 1e-9) * \(classWidth))::numeric, 6))::float8
      """
    }
  }

  private static func truncated(_ unit: String, _ alias: String) -> String {
    "pg_catalog.date_trunc('\(unit)', \(alias).time, 'UTC')"
  }
}
