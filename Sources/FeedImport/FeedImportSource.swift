public import QuakeFeed
public import QuakeImport
public import QuakeModel

/// The records of a feed as an import wants them: the one place where the feed library and the store
/// meet.
public struct FeedImportSource: ImportSource {
  private let reader: FeedReader?
  private let spool: BodySpool?

  /// - Parameters:
  ///   - reader: nil for an answer without a body (HTTP status 204), which has no events.
  ///   - spool: what the reader reads through, if the body may have to be kept.
  public init(_ reader: FeedReader?, spool: BodySpool? = nil) {
    self.reader = reader
    self.spool = spool
  }

  /// Reads the next record, or says why one is rejected.
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

  /// The columns that the feed carries.
  public var columns: [QuakeColumn] { reader?.columns ?? QuakeColumn.feed }
  /// The feed's format, `none` where there is no body.
  public var format: String { reader?.format.rawValue ?? "none" }
  /// When the feed says it was generated.
  public var generated: Timestamp? { reader?.metadata.generated }
  /// Of the formats only JSON says it, be it at the end.
  public var mayTellGenerated: Bool {
    reader.map { $0.format != .usgsCSV && $0.format != .fdsnText } ?? false
  }
  /// Bytes read so far, after decompression.
  public var bytesRead: Int64 { Int64(reader?.bytesRead ?? 0) }

  /// The body as a gzip file, in parts; nothing if none was kept.
  public func withBody(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {
    try spool?.withCompressedParts(part)
  }
}
