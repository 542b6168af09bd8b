public import QuakeFeed
public import QuakeImport
public import QuakeModel

/// The records of a feed as the source of an import: the one place where feeds and imports meet.
public struct FeedImportSource: ImportSource {
  private let reader: FeedReader?
  private let spool: BodySpool?

  /// - Parameters:
  ///   - reader: Reads the feed; nil for an answer without a body (HTTP status 204), which has no events.
  ///   - spool: Keeps the body while the reader reads it; nil: the body is not kept.
  public init(_ reader: FeedReader?, spool: BodySpool? = nil) {
    self.reader = reader
    self.spool = spool
  }

  /// Reads the next record, or returns a reject.
  public func next(into record: inout QuakeRecord) throws -> ImportItem? {
    switch try reader?.next(into: &record) {
    case nil: nil
    case .record: .record
    case .reject(let reject):
      .reject(
        ImportReject(
          place: "record \(reject.number), line \(reject.line), byte \(reject.byteOffset)",
          reason: reject.reason, raw: reject.raw, code: reject.code, isOfTime: reject.isOfTime))
    }
  }

  /// The columns that the feed's format has.
  public var columns: [QuakeColumn] { reader?.columns ?? QuakeColumn.feed }
  /// Those of them that the feed does not have, but infers.
  public var inferredColumns: Set<QuakeColumn> { reader?.inferredColumns ?? [] }
  /// The feed's format; `none` if there is no body.
  public var format: String { reader?.format.rawValue ?? "none" }
  /// When the feed was generated, if it has stated that so far.
  public var generated: Timestamp? { reader?.metadata.generated }
  /// Only GeoJSON can state it even at the end.
  public var mayTellGenerated: Bool { reader?.mayTellGenerated ?? false }
  /// Bytes read so far, after decompression.
  public var bytesRead: Int64 { Int64(reader?.bytesRead ?? 0) }

  /// Calls `part` with the parts of the body as a gzip file; never if it was not kept.
  public func withBody(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {
    try spool?.withCompressedParts(part)
  }
}
