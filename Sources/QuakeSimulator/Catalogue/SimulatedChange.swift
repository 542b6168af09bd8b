/// What one step did to a catalogue.
public struct SimulatedChange: Sendable, Equatable {
  /// The ways in which a real catalogue moves.
  public enum Kind: String, CaseIterable, Sendable {
    /// A new event, at most an hour old.
    case arrival
    /// A new event that happened more than an hour ago.
    case lateArrival = "late-arrival"
    /// New values of an event.
    case revision
    /// Another network's id became the preferred one.
    case identifierSwitch = "switch"
    /// An event vanished.
    case removal
    /// An event that had vanished came back.
    case reappearance
  }

  /// What happened.
  public var kind: Kind
  /// The event's id after the change (of a removed one: its last).
  public var id: String
  /// The id before an `identifierSwitch`; nil otherwise.
  public var previousID: String?
  /// What was revised, in the feed's own names; empty unless it is a `revision`.
  public var changed: [String] = []
}
