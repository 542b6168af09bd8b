public import QuakeModel

/// Reads a feed's events, one by one, from bytes of any supported format, compressed or not.
///
/// The caller pulls events. Memory is limited by the largest permitted event, not by the length of the feed.
/// A reader has one owner, which uses it from one thread at a time. After an error it is unusable.
public final class FeedReader {
  /// The most bytes of a polled feed, before and after decompression, unless the user allows more.
  public static let longestPolled = 256 << 20
  /// The most bytes of one answer of an event service.
  public static let longestAnswer = 2 << 30
  /// The most bytes of a catalogue that is fetched.
  public static let longestFetched = 16 << 30
  /// The most bytes without an event, after decompression: before the first one, between two, and after the last. A feed
  /// has a few kilobytes before its first event; a body of nothing but spaces would keep its reader busy up to the limits
  /// above.
  static let longestGap = 64 << 20
  /// The same of XML, where an event may have any number of phases, and where picks, amplitudes and origins of all events
  /// may come before the first.
  static let longestGapOfXML = 1 << 30

  /// How a feed is read.
  public struct Options: Sendable {
    /// The most bytes of one event; a larger one is an error.
    public var maximumFeatureBytes = 1024 * 1024
    /// The most bytes of the feed, before and after decompression; nil for no limit.
    public var maximumBytes: Int?
    /// Whether events without a magnitude or place are rejected. Real feeds have such events.
    public var strict = false
    /// The region where the epicentres of this feed are expected; events elsewhere are rejected. Nil: anywhere.
    public var expectedRegion: EventFilter.BoundingBox?
    /// The data centre of the catalogue, where the user names it. FDSN text does not contain it, and
    /// QuakeML not always; other formats do not need it.
    public var centre: DataCentre?
    /// The data centre of the service that the feed comes from, used where neither the user nor the feed
    /// names one.
    public var service: DataCentre?
    /// The most bytes without an event; nil for the usual limit of the format.
    var longestGap: Int?

    /// The defaults.
    public init() {}
  }

  private let input: InputBuffer
  private let decoder: any FeedDecoder
  /// The number of events returned so far, records and rejects.
  public private(set) var recordsSeen = 0

  /// Reads as much as is needed to recognise the format. Throws if it is unknown, or if the source throws.
  ///
  /// - Parameters:
  ///   - source: the feed's bytes; gzip is recognised by its first bytes.
  ///   - name: The name of the feed for errors, such as `all_day`, without secrets.
  ///   - options: how it is read.
  public convenience init(
    source: any ByteSource, name: String, options: Options = Options()
  ) throws(FeedError) {
    try self.init(source: source, name: name, options: options, capacity: 128 << 10)
  }

  /// - Parameter capacity: The bytes of its buffer to begin with. With a small one, short inputs move its window, too.
  init(
    source: any ByteSource, name: String, options: Options, capacity: Int
  ) throws(FeedError) {
    let subject = "feed \"\(name)\""
    input = InputBuffer(
      DecompressingSource(source, name: subject, limit: options.maximumBytes), name: subject,
      capacity: capacity, limit: options.maximumBytes)
    input.longestGap = options.longestGap ?? Self.longestGap
    let start = try FeedSyntax.skipByteOrderMark(input)
    decoder =
      switch try FeedSyntax.sniff(input, from: start) {
      case .json: try GeoJSONDecoder(input, from: start, options: options)
      case .jsonLines: try NDJSONDecoder(input, from: start, options: options)
      case .csv: try CSVDecoder(input, from: start, options: options)
      case .text: try FDSNTextDecoder(input, from: start, options: options)
      case .xml: try XMLEventDecoder(input, from: start, options: options)
      }
  }

  /// The format of the feed.
  public var format: FeedFormat { decoder.format }
  /// The columns that this feed can fill. The values of other columns are unknown, not null: an import must
  /// not change them.
  public var columns: [EventColumn] { decoder.columns }
  /// Those of `columns` that the feed does not have, but that follow from others: right for new events, and
  /// no reason to change stored ones.
  public var inferredColumns: Set<EventColumn> { decoder.inferredColumns }
  /// The metadata of the feed, complete when all events have been read. CSV, text and lines have none;
  /// QuakeML may tell when it was generated.
  public var metadata: FeedMetadata { decoder.metadata }
  /// Whether `metadata` may still tell when the feed was generated.
  public var mayTellGenerated: Bool { decoder.mayTellGenerated }
  /// The number of bytes read so far, after decompression.
  public var bytesRead: Int { input.end }

  /// Reads the next event into `record`, which is cleared first; nil after the last.
  ///
  /// Throws if the source fails, or if the feed as a whole is damaged: then the events returned so far are
  /// incomplete.
  public func next(into record: inout EventRecord) throws(FeedError) -> FeedItem? {
    record.removeAll()
    guard let event = try decoder.next(into: &record) else { return nil }
    recordsSeen += 1
    input.eventEnds()
    guard case .reject(let rejection, let text) = event else { return .record }
    let reject = FeedReject(number: recordsSeen, code: record.code, rejection, text)
    record.removeAll()
    return .reject(reject)
  }
}

/// An event that cannot be imported, with the reason.
public struct FeedReject: Sendable, Equatable {
  /// The most bytes of `raw`.
  public static let maximumRawBytes = 64 * 1024

  /// The number of the event in the feed, from 1, counting records and rejects.
  public let number: Int
  /// Its offset in the (decompressed) input.
  public let byteOffset: Int
  /// The line it begins on, counted from 1.
  public let line: Int
  /// Its code, if it could be read.
  public let code: String?
  /// The reason, as a sentence.
  public let reason: String
  /// Whether the reason is a missing or impossible origin time or time of update.
  public let isOfTime: Bool
  /// The event as written in the feed, cut to `maximumRawBytes`. Invalid UTF-8 is replaced by U+FFFD, and
  /// NUL, which PostgreSQL cannot store, by `\u0000`.
  public let raw: String

  init(number: Int, code: String?, _ rejection: Rejection, _ text: RejectedText) {
    self.number = number
    self.code = code
    byteOffset = text.offset
    line = text.line
    raw = text.raw
    reason = rejection.reason
    isOfTime = rejection.isOfTime
  }

  /// Converts any bytes to text that can be stored and printed.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    var text: [UInt8] = []
    var decoder = UTF8()
    // A character has at most four bytes, so later bytes cannot matter.
    var iterator = bytes.prefix(maximumRawBytes + 4).makeIterator()
    while true {
      let character: [UInt8]
      switch decoder.decode(&iterator) {
      case .emptyInput: return String(decoding: text, as: UTF8.self)
      case .error: character = [0xEF, 0xBF, 0xBD]
      case .scalarValue("\0"): character = Array("\\u0000".utf8)
      case .scalarValue(let scalar): character = Array(UTF8.encode(scalar) ?? .init())
      }
      guard text.count + character.count <= maximumRawBytes else {
        return String(decoding: text, as: UTF8.self)
      }
      text += character
    }
  }
}

/// The result of reading the next event of a feed.
public enum FeedItem: Sendable, Equatable {
  case record
  /// The event is invalid, and the record is empty. Later events are not affected.
  case reject(FeedReject)
}

/// The reason for which an event is rejected, as a sentence. The reader adds the position.
struct Rejection: Error {
  let reason: String
  /// The column with the invalid value, if the reason is about one.
  let column: EventColumn?

  init(_ reason: String, of column: EventColumn? = nil) {
    self.reason = reason
    self.column = column
  }

  /// Whether the reason is a missing or impossible origin time or time of update.
  var isOfTime: Bool { column == .time || column == .updated }
}
