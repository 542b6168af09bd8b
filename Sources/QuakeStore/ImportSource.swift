public import QuakeModel

/// Where an import gets its records from: pulled one at a time, so that memory does not depend on how
/// many there are.
public protocol ImportSource {
  /// Puts the next record into `record` and says so, or says that one was rejected; nil at the end.
  mutating func next(into record: inout QuakeRecord) throws -> ImportItem?

  /// The columns that the source can fill. The others are left as they are in the store.
  var columns: [QuakeColumn] { get }

  /// `geojson`, `csv`, ...
  var format: String { get }

  /// When the snapshot says it was generated, once that is known.
  var generated: Timestamp? { get }

  /// Bytes of the body read so far, after decompression.
  var bytesRead: Int64 { get }
}

/// What a source hands over.
public enum ImportItem: Sendable {
  /// A record that is ready to be stored.
  case record
  /// A record that cannot be taken.
  case reject(ImportReject)
}

/// A record that cannot be taken.
public struct ImportReject: Sendable {
  /// Where it begins in the input: a line or a byte offset, in words.
  public let place: String
  /// Why it was rejected.
  public let reason: String
  /// The record as it came.
  public let raw: String

  /// A rejected record of the given parts.
  public init(place: String, reason: String, raw: String) {
    self.place = place
    self.reason = reason
    self.raw = raw
  }
}
