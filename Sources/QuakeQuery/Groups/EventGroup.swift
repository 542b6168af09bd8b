/// Events with the same value of a key, counted, and what is known of a column of them.
public struct EventGroup: Sendable {
  /// The value of the key; nil: the events have none.
  public let key: EventKey.Value?
  /// The number of events, and the values of a column.
  public let summary: EventSummary
  /// The number of events of this class of the magnitude and above; nil: the key is another one, or the events
  /// have no magnitude.
  public let cumulative: Int64?
}
