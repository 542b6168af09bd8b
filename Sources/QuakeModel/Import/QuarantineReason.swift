/// Why a snapshot was set aside instead of being applied.
public enum QuarantineReason: String, CaseIterable, Sendable {
  /// Origin times, or times of update, are missing, before any catalogue or in the future, on too many
  /// of its events.
  case implausibleTimes = "implausible times"
  /// Too many of the events that it should hold are missing.
  case massLoss = "mass loss"
  /// It was generated before one that was applied, or what it says is older than what the store has.
  case stale
  /// It has no events, though it should have.
  case empty
  /// Its body ends too early.
  case truncated
  /// Its body cannot be read for another reason.
  case damaged
}

/// What was found wrong with a snapshot.
public struct QuarantineVerdict: Sendable {
  /// The kind of fault.
  public let reason: QuarantineReason
  /// The figures that led to it, as a sentence.
  public let detail: String

  /// A verdict of the given parts.
  public init(_ reason: QuarantineReason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }
}
