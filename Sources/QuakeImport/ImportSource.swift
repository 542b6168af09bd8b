internal import Postgres
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

/// A source that an import reads, and the item that was read last and is not imported yet.
struct ImportReader<Source: ImportSource> {
  var source: Source
  /// The item; nil before the first, and after the last.
  private(set) var item: ImportItem?
  /// Its record, if it is one.
  private(set) var record = EventRecord()
  private var mixture: MixtureCheck?

  init(_ source: Source) {
    self.source = source
  }

  mutating func advance() throws {
    item = try source.next(into: &record)
    if case .record = item { try mixture?.add(record) }
  }

  /// The record that was read last; nil if the item is not a record.
  var currentRecord: EventRecord? { if case .record = item { record } else { nil } }

  /// Refuses this item and all later ones that would mix simulated events with others.
  mutating func refuseMixture(over connection: Connection) throws {
    if item != nil { mixture = try MixtureCheck(first: currentRecord, over: connection) }
  }
}
