/// A record that cannot be imported.
public struct ImportReject: Sendable {
  /// Its position in the input: a line or a byte offset, in words.
  public let place: String
  /// Why it was rejected.
  public let reason: String
  /// The record as the source has it.
  public let raw: String
  /// The event's code, if it could be read. The event then does not count as missing.
  public let code: String?
  /// Whether the reason is a missing or impossible time.
  public let isOfTime: Bool

  /// A rejected record of the given parts.
  public init(
    place: String, reason: String, raw: String, code: String? = nil, isOfTime: Bool = false
  ) {
    self.code = code
    self.isOfTime = isOfTime
    self.place = place
    self.reason = reason
    self.raw = raw
  }

  /// The reject without its texts, with only its code and whether it is about a time.
  package var withoutText: ImportReject {
    ImportReject(place: "", reason: "", raw: "", code: code, isOfTime: isOfTime)
  }
}
