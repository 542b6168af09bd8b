/// The change that one step made to a catalogue.
public struct SimulatedChange: Sendable, Equatable {
  /// The kinds of changes in a real catalogue.
  public enum Kind: String, CaseIterable, Sendable {
    /// A new event, at most an hour old.
    case arrival
    /// A new event that happened more than an hour ago.
    case lateArrival = "late-arrival"
    /// New values of an event.
    case revision
    /// Another network's id became the preferred one.
    case identifierSwitch = "switch"
    /// An event was removed.
    case removal
    /// A removed event returned.
    case reappearance
  }

  /// The kind of the change.
  public var kind: Kind
  /// The event's id after the change (of a removed one: its last).
  public var id: String
  /// The id before an `identifierSwitch`; nil otherwise.
  public var previousID: String?
  /// The feed's names of the revised values; empty unless it is a `revision`.
  public var changed: [String] = []
}
