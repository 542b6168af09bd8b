/// A record that cannot be taken.
public struct ImportReject: Sendable {
  /// Where it begins in the input: a line or a byte offset, in words.
  public let place: String
  /// Why it was rejected.
  public let reason: String
  /// The record as it came.
  public let raw: String
  /// The event's code, where that much could be read: then it is not missing.
  public let code: String?
  /// Whether it is a time that is missing or makes no sense.
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

  /// Only that there was one, and whose it was.
  package var withoutText: ImportReject {
    ImportReject(place: "", reason: "", raw: "", code: code, isOfTime: isOfTime)
  }
}
