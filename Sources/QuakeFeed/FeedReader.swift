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
    /// The data centre of the catalogue, where the user names it. FDSN text does not contain it, and
    /// QuakeML not always; other formats do not need it.
    public var centre: DataCentre?
    /// The data centre of the service that the feed comes from, used where neither the user nor the feed
    /// names one.
    public var service: DataCentre?

    /// The defaults.
    public init() {}
  }

  private enum Body {
    case json(FeatureSplitter, JSONParser)
    case csv(CSVRowReader)
    case text(FDSNRowReader)
    case lines(LineReader, JSONParser)
    case xml(XMLScanner, XMLEventDecoder)
  }

  /// The format of the feed.
  public let format: FeedFormat
  /// The columns that this feed can fill. The values of other columns are unknown, not null: an import must
  /// not change them.
  public let columns: [QuakeColumn]
  /// Those of `columns` that the feed does not have, but that follow from others: right for new events, and
  /// no reason to change stored ones.
  public let inferredColumns: Set<QuakeColumn>
  /// Whether `metadata` may still tell when the feed was generated.
  public var mayTellGenerated: Bool { if case .json = body { true } else { false } }
  /// The number of events returned so far, records and rejects.
  public private(set) var recordsSeen = 0
  private let input: InputBuffer
  private let body: Body
  private var features: FeatureDecoder?
  private var rows: CSVDecoder?
  private var textRows: FDSNTextDecoder?
  /// The first feature, which is read early to recognise the format.
  private var pending: FeatureSplitter.Feature?
  /// The first row of FDSN text, the first line, or whether the first event has been read early.
  private var pendingRow: FDSNRowReader.Row?
  private var pendingLine: LineReader.Line?
  private var hasPendingEvent = false
  /// When the feed was generated, if its XML says so.
  private var generated: Timestamp?
  private var publicIDs = PublicIDCheck()

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
    var inferred: Set<QuakeColumn> = []
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
      let decoder: CSVDecoder
      do throws(FeedError) {
        decoder = try CSVDecoder(header: reader, row: header, strict: options.strict)
      } catch {
        // It may be a sentence instead of a feed.
        let text = input.bytes(header.range).prefix(FeedError.longestAnswer)
        throw error.quoting(String(decoding: text, as: UTF8.self))
      }
      format = .usgsCSV
      columns = decoder.columns
      inferred = decoder.inferredColumns
      rows = decoder
      body = .csv(reader)
    case .text:
      let reader = FDSNRowReader(
        input: input, position: start, maximumRowBytes: options.maximumFeatureBytes)
      guard let header = try reader.next() else {
        preconditionFailure("text is recognised by its header")
      }
      var decoder = try FDSNTextDecoder(
        header: reader, row: header, centre: options.centre, service: options.service,
        strict: options.strict)
      let isCentreGiven = options.centre != nil || options.service != nil
      if decoder.hasExportHeader || !isCentreGiven {
        pendingRow = try reader.next()
        if let row = pendingRow {
          if decoder.recogniseExport(reader) { reader.keepSpaces(in: row) }
        } else if decoder.hasExportHeader, !isCentreGiven {
          decoder.setExport()  // an export of no events
        }
      }
      guard isCentreGiven || decoder.isExport || decoder.knowsCentre(of: reader) else {
        throw FeedError(
          .unknownCentre, "cannot tell whose events \(subject) holds",
          detail: "FDSN text does not name the data centre, whose identifiers it gives.",
          hint: "Name it with --source, such as emsc or ingv.")
      }
      format = .fdsnText
      columns = decoder.columns
      textRows = decoder
      body = .text(reader)
    case .jsonLines:
      let reader = LineReader(
        input: input, position: start, maximumBytes: options.maximumFeatureBytes)
      let parser = JSONParser()
      var decoder = FeatureDecoder(format: .ndjson, strict: options.strict)
      format = .ndjson
      columns = try Self.columns(ofFirstLineOf: reader, parser, &decoder, &pendingLine)
      features = decoder
      body = .lines(reader, parser)
    case .xml:
      var begin = start
      while begin < input.end, [0x20, 0x09, 0x0A, 0x0D].contains(input.byte(at: begin)) {
        begin += 1
      }
      let scanner = XMLScanner(
        input: input, start: begin, maximumToken: options.maximumFeatureBytes)
      let decoder = XMLEventDecoder(
        strict: options.strict, centre: options.centre, service: options.service)
      hasPendingEvent = try scanner.next()
      guard !hasPendingEvent || decoder.knowsCentre(of: scanner.event) else {
        throw FeedError(
          .unknownCentre, "cannot tell whose events \(subject) holds",
          detail: "The publicID of its first event does not name a data centre.",
          hint: "Name it with --source, such as emsc or ingv.")
      }
      format = scanner.dialect == .seisComP ? .seisComP : .quakeML
      columns = QuakeColumn.feed.filter(XMLEventDecoder.columns.contains)
      generated = scanner.generated.withUnsafeBytes { Timestamp(iso8601: $0) }
      body = .xml(scanner, decoder)
    }
    inferredColumns = inferred
  }

  /// The columns that an export has, one JSON object a line: those of the first line.
  private static func columns(
    ofFirstLineOf reader: LineReader, _ parser: JSONParser, _ decoder: inout FeatureDecoder,
    _ pending: inout LineReader.Line?
  ) throws(FeedError) -> [QuakeColumn] {
    pending = try reader.next()
    guard let line = pending else { return QuakeColumn.feed }
    let root: csj_element
    do throws(JSONParser.SyntaxError) {
      root = try parser.parse(reader.input.bytes(line.range))
    } catch {
      throw reader.input.error(
        line.endsWithLineBreak ? .invalidJSON : .truncated,
        "the first line of \(reader.input.name) is not JSON", at: line.range.lowerBound,
        detail: error.sentence)
    }
    let columns = decoder.readColumns(ofLine: root)
    for required in [QuakeColumn.code, .time, .longitude, .latitude]
    where !columns.contains(required) {
      throw reader.input.error(
        .notAFeed, "\(reader.input.name) is not a feed", at: line.range.lowerBound,
        detail: "Its lines have no member \"\(required.name)\".")
    }
    return columns
  }

  /// The metadata of the feed, complete when all events have been read. CSV, text and lines have none;
  /// QuakeML may tell when it was generated.
  public var metadata: FeedMetadata {
    if case .json(let splitter, _) = body { return splitter.metadata }
    var metadata = FeedMetadata()
    metadata.generated = generated
    return metadata
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
    case .lines(let reader, let parser): return try nextLine(of: reader, parser, into: &record)
    case .xml(let scanner, let decoder): return try nextEvent(of: scanner, decoder, into: &record)
    case .text(let reader):
      var next = pendingRow
      pendingRow = nil
      if next == nil { next = try reader.next() }
      guard let row = next else { return nil }
      recordsSeen += 1
      do throws(Rejection) {
        try textRows?.decode(of: reader, into: &record)
      } catch {
        if !row.endsWithLineBreak, reader.fields.count < (textRows?.fieldCount ?? 0) {
          throw truncatedRow(at: row.range, fields: reader.fields.count)
        }
        return reject(
          error, input.bytes(row.range), at: row.range.lowerBound, line: row.line, &record)
      }
      try check(textRows?.publicID, of: record, line: row.line)
      return .record
    }
  }

  /// Throws if another identifier of the document leads to the same code.
  private func check(
    _ publicID: PublicID?, of record: QuakeRecord, line: Int
  ) throws(FeedError) {
    guard let publicID,
      let other = record.withUTF8(.code, { publicIDs.add(publicID, code: $0) })
    else { return }
    throw FeedError(
      .ambiguousIdentifiers, "two identifiers of \(input.name) lead to one code",
      detail:
        "\"\(other.prefix(300))\" and \"\(publicID.text.prefix(300))\", on line \(line), both lead to \"\(record.code ?? "")\".",
      hint:
        "If they are different events, import each group of them from a file of its own, with a --source of its own."
    )
  }

  private func nextLine(
    of reader: LineReader, _ parser: JSONParser, into record: inout QuakeRecord
  ) throws(FeedError) -> FeedItem? {
    var next = pendingLine
    pendingLine = nil
    if next == nil { next = try reader.next() }
    guard let line = next else { return nil }
    recordsSeen += 1
    let bytes = input.bytes(line.range)
    do throws(Rejection) {
      let root: csj_element
      do throws(JSONParser.SyntaxError) {
        root = try parser.parse(bytes)
      } catch {
        throw Rejection(error.sentence)
      }
      try features?.decode(line: root, into: &record)
      return .record
    } catch {
      if !line.endsWithLineBreak, bytes.last != UInt8(ascii: "}") {
        throw input.error(
          .truncated, "\(input.name) is truncated", at: line.range.lowerBound,
          detail: "The last line is not complete.", hint: "Fetch it again.")
      }
      return reject(error, bytes, at: line.range.lowerBound, line: line.number, &record)
    }
  }

  private func nextEvent(
    of scanner: XMLScanner, _ decoder: XMLEventDecoder, into record: inout QuakeRecord
  ) throws(FeedError) -> FeedItem? {
    var hasNext = hasPendingEvent
    hasPendingEvent = false
    if !hasNext { hasNext = try scanner.next() }
    guard hasNext else { return nil }
    recordsSeen += 1
    let publicID: PublicID?
    do throws(Rejection) {
      publicID = try decoder.decode(scanner, into: &record)
    } catch {
      let code = record.code
      record.removeAll()
      return scanner.withRaw { raw in
        .reject(
          FeedReject(
            number: recordsSeen, byteOffset: scanner.eventOffset, line: scanner.eventLine,
            code: code, rejection: error, raw: raw))
      }
    }
    try check(publicID, of: record, line: scanner.eventLine)
    return .record
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
    let code = record.code
    record.removeAll()
    return .reject(
      FeedReject(
        number: recordsSeen, byteOffset: offset, line: line, code: code, rejection: rejection,
        raw: raw))
  }
}
