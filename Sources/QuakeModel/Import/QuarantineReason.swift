/// The reason for which a snapshot was quarantined.
public enum QuarantineReason: String, CaseIterable, Sendable {
  /// Too many of its events have an origin time, or a time of update, that is missing, before any catalogue
  /// or in the future.
  case implausibleTimes = "implausible times"
  /// Too many of the events that it should hold are missing.
  case massLoss = "mass loss"
  /// It was generated before one that was imported, or its contents are older than those of the store.
  case stale
  /// It has no events, though it should have.
  case empty
  /// Its body ends too early.
  case truncated
  /// Its body cannot be read for another reason.
  case damaged
}

/// The fault of a snapshot.
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
