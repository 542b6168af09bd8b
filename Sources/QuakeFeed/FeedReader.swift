import CSimdjson
public import QuakeModel

/// Reads a feed's events, one by one, from bytes of any supported format, compressed or not.
///
/// The caller pulls events. Memory is limited by the largest permitted event, not by the length of the feed.
/// A reader has one owner, which uses it from one thread at a time. After an error it is unusable.
public final class FeedReader {
  /// The most bytes of a polled feed, after decompression.
  public static let longestPolled = 256 << 20

  /// How a feed is read.
  public struct Options: Sendable {
    /// The most bytes of one event; a larger one is an error.
    public var maximumFeatureBytes = 1024 * 1024
    /// The most bytes of the feed, after decompression; nil for no limit.
    public var maximumBytes: Int?
    /// Whether events without a magnitude or place are rejected. Real feeds have such events.
    public var strict = false
    /// The data centre of the catalogue, which FDSN text does not contain. Other formats do not need it.
    public var centre: DataCentre?

    /// The defaults.
    public init() {}
  }

  private enum Body {
    case json(FeatureSplitter, JSONParser)
    case csv(CSVRowReader)
    case text(FDSNRowReader)
  }

  /// The format of the feed.
  public let format: FeedFormat
  /// The columns that this feed can fill. The values of other columns are unknown, not null: an import must
  /// not change them.
  public let columns: [QuakeColumn]
  /// The number of events returned so far, records and rejects.
  public private(set) var recordsSeen = 0
  private let input: InputBuffer
  private let body: Body
  private var features: FeatureDecoder?
  private var rows: CSVDecoder?
  private var textRows: FDSNTextDecoder?
  /// The first feature, which is read early to recognise the format.
  private var pending: FeatureSplitter.Feature?

  /// Reads as much as is needed to recognise the format. Throws if it is unknown, or if the source throws.
  ///
  /// - Parameters:
  ///   - source: the feed's bytes; gzip is recognised by its first bytes.
  ///   - name: The name of the feed for errors, such as `all_day`, without secrets.
  ///   - options: how it is read.
  public init(
    source: any ByteSource, name: String, options: Options = Options()
  ) throws(FeedError) {
    let subject = "feed \"\(name)\""
    let input = InputBuffer(
      DecompressingSource(source, name: subject), name: subject, limit: options.maximumBytes)
    self.input = input
    let start = try FeedSyntax.skipByteOrderMark(input)
    switch try FeedSyntax.sniff(input, from: start) {
    case .json:
      let parser = JSONParser()
      let splitter = FeatureSplitter(
        input: input, position: start, maximumFeatureBytes: options.maximumFeatureBytes,
        parser: parser)
      let first = try splitter.next()
      let format = first.map { FeedSyntax.dialect(of: $0.bytes, parser: parser) } ?? .usgsGeoJSON
      pending = first
      self.format = format
      columns = format.featureColumns
      features = FeatureDecoder(format: format, strict: options.strict)
      body = .json(splitter, parser)
    case .csv:
      let reader = CSVRowReader(
        input: input, position: start, maximumRowBytes: options.maximumFeatureBytes)
      guard let header = try reader.next() else {
        throw FeedError(.emptyBody, "\(subject) is empty", detail: "The body is empty.")
      }
      let decoder = try CSVDecoder(header: reader, row: header, strict: options.strict)
      format = .usgsCSV
      columns = decoder.columns
      rows = decoder
      body = .csv(reader)
    case .text:
      guard let centre = options.centre else {
        throw FeedError(
          .unknownCentre, "cannot tell whose events \(subject) holds",
          detail: "FDSN text does not name the data centre, whose identifiers it gives.",
          hint: "Name it with --source, such as emsc or ingv.")
      }
      let reader = FDSNRowReader(
        input: input, position: start, maximumRowBytes: options.maximumFeatureBytes)
      guard let header = try reader.next() else {
        preconditionFailure("text is recognised by its header")
      }
      let decoder = try FDSNTextDecoder(
        header: reader, row: header, centre: centre, strict: options.strict)
      format = .fdsnText
      columns = decoder.columns
      textRows = decoder
      body = .text(reader)
    }
  }

  /// The metadata of the feed, complete when all events have been read. CSV and text have none.
  public var metadata: FeedMetadata {
    if case .json(let splitter, _) = body { splitter.metadata } else { FeedMetadata() }
  }

  /// The number of bytes read so far, after decompression.
  public var bytesRead: Int { input.end }

  /// Reads the next event into `record`, which is cleared first; nil after the last.
  ///
  /// Throws if the source fails, or if the feed as a whole is damaged: then the events returned so far are
  /// incomplete.
  public func next(into record: inout QuakeRecord) throws(FeedError) -> FeedItem? {
    record.removeAll()
    switch body {
    case .json(let splitter, let parser):
      var next = pending
      pending = nil
      if next == nil { next = try splitter.next() }
      guard let feature = next else { return nil }
      recordsSeen += 1
      do throws(Rejection) {
        try decode(feature, parser: parser, into: &record)
        return .record
      } catch {
        return reject(
          error, feature.bytes, at: feature.offset, line: input.line(at: feature.offset), &record)
      }
    case .csv(let reader):
      guard let row = try reader.next() else { return nil }
      recordsSeen += 1
      do throws(Rejection) {
        try rows?.decode(row, of: reader, into: &record)
        return .record
      } catch {
        if !row.endsWithLineBreak, reader.fields.count < (rows?.fieldCount ?? 0) {
          throw truncatedRow(at: row.range, fields: reader.fields.count)
        }
        return reject(
          error, input.bytes(row.range), at: row.range.lowerBound, line: row.line, &record)
      }
    case .text(let reader):
      guard let row = try reader.next() else { return nil }
      recordsSeen += 1
      do throws(Rejection) {
        try textRows?.decode(of: reader, into: &record)
        return .record
      } catch {
        if !row.endsWithLineBreak, reader.fields.count < (textRows?.fieldCount ?? 0) {
          throw truncatedRow(at: row.range, fields: reader.fields.count)
        }
        return reject(
          error, input.bytes(row.range), at: row.range.lowerBound, line: row.line, &record)
      }
    }
  }

  private func truncatedRow(at range: Range<Int>, fields: Int) -> FeedError {
    input.error(
      .truncated, "\(input.name) is truncated", at: range.lowerBound,
      detail: "The last row has \(fields) fields and no end.", hint: "Fetch it again.")
  }

  private func decode(
    _ feature: FeatureSplitter.Feature, parser: JSONParser, into record: inout QuakeRecord
  ) throws(Rejection) {
    let root: csj_element
    do throws(JSONParser.SyntaxError) {
      root = try parser.parse(feature.bytes)
    } catch {
      throw Rejection(error.sentence)
    }
    try features?.decode(root, into: &record)
  }

  private func reject(
    _ rejection: Rejection, _ raw: UnsafeRawBufferPointer, at offset: Int, line: Int,
    _ record: inout QuakeRecord
  ) -> FeedItem {
    let code = record.text(.code)
    record.removeAll()
    return .reject(
      FeedReject(
        number: recordsSeen, byteOffset: offset, line: line, code: code, rejection: rejection,
        raw: raw))
  }
}
