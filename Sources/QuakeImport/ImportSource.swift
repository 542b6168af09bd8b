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

  /// Whether `generated`, where it is not known yet, may still become so.
  var mayTellGenerated: Bool { get }

  /// Bytes of the body read so far, after decompression.
  var bytesRead: Int64 { get }

  /// Hands over the whole body as a gzip file, in parts; nothing where it was not kept. Asked for when
  /// the body goes into quarantine.
  func withBody(_ part: (UnsafeRawBufferPointer) throws -> Void) throws
}

extension ImportSource {
  /// It may.
  public var mayTellGenerated: Bool { true }

  /// No body was kept.
  public func withBody(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {}
}

/// What a source hands over.
public enum ImportItem: Sendable {
  /// A record that is ready to be stored.
  case record
  /// A record that cannot be taken.
  case reject(ImportReject)
}
