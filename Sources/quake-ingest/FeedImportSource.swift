import QuakeFeed
import QuakeModel
import QuakeStore

/// The records of a feed as an import wants them: the one place where the feed library and the store
/// meet.
struct FeedImportSource: ImportSource {
  private let reader: FeedReader?

  /// - Parameter reader: nil for an answer without a body (HTTP status 204), which has no events.
  init(_ reader: FeedReader?) {
    self.reader = reader
  }

  func next(into record: inout QuakeRecord) throws -> ImportItem? {
    switch try reader?.next(into: &record) {
    case nil: nil
    case .record: .record
    case .reject(let reject):
      .reject(
        ImportReject(
          place: "record \(reject.number), line \(reject.line), byte \(reject.byteOffset)",
          reason: reject.reason, raw: reject.raw))
    }
  }

  var columns: [QuakeColumn] { reader?.columns ?? QuakeColumn.feed }
  var format: String { reader?.format.rawValue ?? "none" }
  var generated: Timestamp? { reader?.metadata.generated }
  var bytesRead: Int64 { Int64(reader?.bytesRead ?? 0) }
}
