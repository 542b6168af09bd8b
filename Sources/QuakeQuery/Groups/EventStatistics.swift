/// Figures about the events of a query.
public struct EventStatistics: Sendable, Hashable {
  /// Number, values of a column, energy and moment.
  public let summary: EventSummary
  /// The b-value; nil: no event has a magnitude.
  public let bValue: BValue?
  /// How many events of the query are no earthquakes, and count nowhere else.
  public let otherEvents: Int64
}
