public import QuakeModel

/// Events of a list with the same value of a key, under which a view shows them.
public struct EventSection: Sendable {
  /// The value of the key; nil: the events have none.
  public let key: EventKey.Value?
  /// The events, in the order of the query.
  public let events: [QuakeRecord]
}
