import QuakeModel

/// Decodes the events of a feed in one format.
///
/// It is made at the beginning of the feed, after any byte order mark, and reads as much as it needs to know its
/// columns. It is a class, so that a call through the protocol copies nothing.
protocol FeedDecoder: AnyObject {
  var format: FeedFormat { get }
  /// The columns that the feed can fill.
  var columns: [EventColumn] { get }
  /// Those of `columns` that the feed does not have, but that follow from others.
  var inferredColumns: Set<EventColumn> { get }
  /// The metadata of the feed, complete when all events have been read.
  var metadata: FeedMetadata { get }
  /// Whether `metadata` may still tell when the feed was generated.
  var mayTellGenerated: Bool { get }

  /// Reads the next event into `record`, which must be empty; nil after the last.
  func next(into record: inout EventRecord) throws(FeedError) -> DecodedEvent?
}

extension FeedDecoder {
  var inferredColumns: Set<EventColumn> { [] }
  var metadata: FeedMetadata { FeedMetadata() }
  var mayTellGenerated: Bool { false }
}

/// What a decoder has read.
enum DecodedEvent {
  /// The record has been filled.
  case record
  /// The event is invalid. The record has the values that were read before the invalid one.
  case reject(Rejection, RejectedText)
}

/// An event that is rejected, as it is written.
struct RejectedText {
  /// Its offset in the (decompressed) input.
  let offset: Int
  /// The line it begins on, counted from 1.
  let line: Int
  /// Its text, cut and made safe to store.
  let raw: String

  init(_ bytes: UnsafeRawBufferPointer, at offset: Int, line: Int) {
    self.offset = offset
    self.line = line
    raw = FeedReject.text(bytes)
  }
}

extension InputBuffer {
  /// A line, or a row, that is rejected.
  func text(of line: LineReader.Line) -> RejectedText {
    RejectedText(bytes(line.range), at: line.range.lowerBound, line: line.number)
  }
}
