public import QuakeModel

/// A part of a list of events.
public struct EventPage: Sendable {
  /// The events, in the order of the query.
  public let events: [QuakeRecord]
  /// The query's `after` for the next page; nil: this page ends the list.
  public let next: EventCursor?
}
