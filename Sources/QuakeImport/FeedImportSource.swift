internal import Basics
package import Postgres
public import QuakeFeed
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
  public func next(into record: inout EventRecord) throws -> ImportItem? {
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
  public var columns: [EventColumn] { reader?.columns ?? EventColumn.feed }
  /// Those of them that the feed does not have, but infers.
  public var inferredColumns: Set<EventColumn> { reader?.inferredColumns ?? [] }
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

/// The body of a snapshot in quarantine, as a feed that can be read again.
package struct QuarantinedFeed {
  private let quarantine: Quarantine
  private let id: Int64

  package init(import id: Int64, over connection: Connection) {
    quarantine = Quarantine(connection: connection)
    self.id = id
  }

  /// The body's bytes, decompressed; nil if none is stored.
  ///
  /// - Parameter folder: The folder of the temporary file that they are read from.
  package func open(in folder: String) throws -> (any ByteSource)? {
    let name = "the body of import \(id)"
    let file = BodyFile(in: folder)
    let isKept = try quarantine.withBody(of: id) { file.append($0) }
    if let failure = file.failure { throw failure }
    return isKept ? DecompressingSource(BodySpool(file), name: name) : nil
  }
}

extension QuarantineVerdict {
  /// The verdict on a snapshot whose body caused the error; nil if another cause is possible.
  package init?(_ error: FeedError) {
    let reason: QuarantineReason
    switch error.code {
    case .truncated, .truncatedGzip, .truncatedZstd, .truncatedTransfer: reason = .truncated
    case .emptyBody: reason = .empty
    // It would not fit into the quarantine either.
    case .bodyTooLarge: return nil
    default:
      guard error.category == .badData else { return nil }
      reason = .damaged
    }
    self.init(reason, error.detail.map { "\(error.message): \($0)" } ?? error.message)
  }
}

extension ImportOptions {
  /// Completes the options with the headers of the HTTP answer, if there is one.
  package mutating func describe(_ response: FeedResponse?) {
    guard let response else { return }
    httpStatus = response.status
    etag = response.validators.etag
    lastModified = response.validators.lastModified
    generated = generated ?? response.lastModified ?? response.date
  }
}
