import QuakeFeed
import QuakeFormat
import QuakeModel

/// A document as a writer writes it, and what a feed reader makes of one.
enum Document {
  static let head = DocumentHead(
    generated: Timestamp(microseconds: 1_700_000_000_000_000), count: nil, api: "1.0")

  /// The document of these events.
  static func bytes(_ format: ExportFormat, _ events: [EventRecord]) -> [UInt8] {
    var writer = format.makeWriter()
    var bytes: [UInt8] = []
    writer.begin(head)
    for event in events {
      writer.event(event, revision: 3)
      writer.drain { bytes.append(contentsOf: $0) }
    }
    writer.end()
    writer.drain { bytes.append(contentsOf: $0) }
    return bytes
  }

  static func text(_ format: ExportFormat, _ events: [EventRecord]) -> String {
    String(decoding: bytes(format, events), as: UTF8.self)
  }

  /// What a feed reader reads.
  static func read(
    _ bytes: [UInt8], pieceSize: Int = .max, centre: DataCentre? = nil
  ) throws(FeedError) -> FeedContents {
    var options = FeedReader.Options()
    options.centre = centre
    return try FeedContents(
      BytesSource(bytes, pieceSize: { pieceSize }), options: options)
  }
}
