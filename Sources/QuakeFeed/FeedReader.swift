import CSimdjson
public import QuakeModel

/// Reads a feed's events, one by one, from bytes of any supported format, compressed or not.
///
/// The caller pulls; memory is bounded by the largest event allowed, however long the feed. A reader
/// has one owner and is used from one thread at a time; after an error it is of no more use.
public final class FeedReader {
  /// How a feed is read.
  public struct Options: Sendable {
    /// The most bytes one event may have; a larger one is an error.
    public var maximumFeatureBytes = 1024 * 1024
    /// Whether an event without magnitude or place is rejected. Such events are real.
    public var strict = false

    /// The defaults.
    public init() {}
  }

  private enum Body {
    case json(FeatureSplitter, JSONParser)
    case csv(CSVRowReader)
  }

  /// What the feed is in.
  public let format: FeedFormat
  /// The columns that this feed can fill. What is not among them is not null but unknown: an import
  /// must leave it as it is.
  public let columns: [QuakeColumn]
  /// How many events have been given, records and rejects.
  public private(set) var recordsSeen = 0
  private let input: InputBuffer
  private let body: Body
  private var features: FeatureDecoder?
  private var rows: CSVDecoder?
  /// The first feature, which is read early to tell the format.
  private var pending: FeatureSplitter.Feature?

  /// Reads as much as is needed to tell the format; throws when it is none, or when the source does.
  ///
  /// - Parameters:
  ///   - source: the feed's bytes; gzip is recognised by its first bytes.
  ///   - name: what errors call the feed, such as `all_day`; free of secrets.
  ///   - options: how it is read.
  public init(
    source: any ByteSource, name: String, options: Options = Options()
  ) throws(FeedError) {
    let subject = "feed \"\(name)\""
    let input = InputBuffer(DecompressingSource(source, name: subject), name: subject)
    self.input = input
    let start = try Self.skipByteOrderMark(input)
    switch try Self.sniff(input, from: start) {
    case .json:
      let parser = JSONParser()
      let splitter = FeatureSplitter(
        input: input, position: start, maximumFeatureBytes: options.maximumFeatureBytes,
        parser: parser)
      let first = try splitter.next()
      let format = first.map { Self.dialect(of: $0.bytes, parser: parser) } ?? .usgsGeoJSON
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
    }
  }

  /// What the feed says of itself; complete when the events have been read. CSV says nothing.
  public var metadata: FeedMetadata {
    if case .json(let splitter, _) = body { splitter.metadata } else { FeedMetadata() }
  }

  /// How many bytes have been read, after decompression.
  public var bytesRead: Int { input.end }

  /// Reads the next event into `record`, which is emptied first; nil after the last.
  ///
  /// Throws when the source fails, or when the feed as a whole is damaged: then the events given so
  /// far are not all that it had.
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
          throw input.error(
            .truncated, "\(input.name) is truncated", at: row.range.lowerBound,
            detail: "The last row has \(reader.fields.count) fields and no end.",
            hint: "Fetch it again.")
        }
        return reject(
          error, input.bytes(row.range), at: row.range.lowerBound, line: row.line, &record)
      }
    }
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

// MARK: - Telling the format

extension FeedReader {
  private enum Syntax {
    case json, csv
  }

  /// How much is looked at to tell one wrong thing from another.
  private static let sniffBytes = 1024

  /// Where the text begins: after a byte order mark, if there is one.
  private static func skipByteOrderMark(_ input: InputBuffer) throws(FeedError) -> Int {
    while input.end < 3, try input.fill(keepingFrom: 0) {}
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return input.bytes(0..<min(input.end, 3)).elementsEqual(mark) ? 3 : 0
  }

  private static func sniff(_ input: InputBuffer, from start: Int) throws(FeedError) -> Syntax {
    while input.end < start + sniffBytes, try input.fill(keepingFrom: 0) {}
    let head = input.bytes(start..<min(input.end, start + sniffBytes))
    let text = head.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    guard let first = text.first else {
      // More spaces than are looked at may still be followed by something; JSON's reader says so.
      if head.count == sniffBytes { return .json }
      throw FeedError(
        .emptyBody, "\(input.name) is empty", detail: "The body is empty.",
        hint: "Try again later.")
    }
    let folded = Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
    case UInt8(ascii: "<"):
      let isQuakeML = folded.hasBytes("<q:quakeml") || folded.hasBytes("<quakeml")
      let isHTML = folded.hasBytes("<html") || folded.hasBytes("<!doctype html")
      if isQuakeML || folded.starts(with: "<?xml".utf8) && !isHTML {
        throw FeedError(
          .unsupportedFormat, "\(input.name) is XML, which is not supported",
          detail: "It may be QuakeML.", hint: "Ask the service for GeoJSON or CSV.")
      }
      throw FeedError(
        .html, "\(input.name) looks like an HTML page, not a feed",
        detail: "It begins with \"<\".", hint: "Check the URL, and whether a portal is in the way.")
    default:
      if folded.starts(with: "#eventid".utf8) || folded.starts(with: "eventid|".utf8) {
        throw FeedError(
          .unsupportedFormat, "FDSN text is not supported yet",
          detail: "\(input.name) begins with \"#EventID\".",
          hint: "Ask the service for GeoJSON (format=geojson or format=json) or CSV.")
      }
      return .csv
    }
  }

  /// The dialect of a feature: USGS's, unless it has the one member that tells another. A feature
  /// that is not JSON must not decide for the rest, so then its text is searched.
  private static func dialect(of feature: UnsafeRawBufferPointer, parser: JSONParser) -> FeedFormat
  {
    do throws(JSONParser.SyntaxError) {
      for member in try parser.parse(feature).members where member.isNamed("properties") {
        for property in member.value.members {
          if property.isNamed("unid") { return .emscJSON }
          if property.isNamed("publicID") { return .geonetJSON }
        }
      }
      return .usgsGeoJSON
    } catch {
      if feature.hasBytes("\"unid\"") { return .emscJSON }
      return feature.hasBytes("\"publicID\"") ? .geonetJSON : .usgsGeoJSON
    }
  }
}
