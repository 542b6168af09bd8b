public import QuakeModel

/// The source of an import's records. The import pulls one at a time, so that memory does not depend on their
/// number.
public protocol ImportSource {
  /// Reads the next record into `record`, or returns a reject; nil at the end.
  mutating func next(into record: inout EventRecord) throws -> ImportItem?

  /// The columns that the source can fill. An import does not change the others.
  var columns: [EventColumn] { get }

  /// Those of `columns` that the source does not have, but infers. An import sets them in new events, and
  /// leaves them as they are in stored ones.
  var inferredColumns: Set<EventColumn> { get }

  /// `geojson`, `csv`, ...
  var format: String { get }

  /// When the snapshot was generated, once the source has stated it.
  var generated: Timestamp? { get }

  /// Whether the source may still state `generated` if it has not yet.
  var mayTellGenerated: Bool { get }

  /// Bytes of the body read so far, after decompression.
  var bytesRead: Int64 { get }

  /// Calls `part` with the parts of the whole body as a gzip file; never if the body was not kept. Used to
  /// put the body into quarantine.
  func withBody(_ part: (UnsafeRawBufferPointer) throws -> Void) throws
}

extension ImportSource {
  /// Most sources have all of their columns.
  public var inferredColumns: Set<EventColumn> { [] }

  /// A source may state it at any record.
  public var mayTellGenerated: Bool { true }

  /// No body is kept.
  public func withBody(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {}
}

/// One item that a source has read.
public enum ImportItem: Sendable {
  /// A record that can be imported.
  case record
  /// A record that cannot be imported.
  case reject(ImportReject)
}
