public import QuakeModel

/// Which events a batch edit is about. By default those that `EventList` lists.
public struct EventSelection: Sendable {
  /// The conditions on events that an event must meet; its conditions on changes do not count.
  public var filter = QuakeFilter()
  /// Whether superseded events are selected. Those that the filter names by their code always are.
  public var includesSuperseded = false
  /// Whether withdrawn events are selected. Those that the filter names by their code always are.
  public var includesWithdrawn = false
  /// The most events, those with the earliest origin times first; nil: all.
  public var limit: Int64?

  /// All events that represent an earthquake now.
  public init() {}

  /// The events that meet the conditions of a filter.
  public init(_ filter: QuakeFilter) {
    self.filter = filter
  }
}
