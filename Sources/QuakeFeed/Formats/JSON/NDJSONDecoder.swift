import CSimdjson
import QuakeModel
import Simdjson

/// Decodes an export of events, one JSON object a line.
final class NDJSONDecoder: FeedDecoder {
  let format = FeedFormat.ndjson
  /// Those of the first line.
  let columns: [EventColumn]
  private let lines: LineReader
  private let parser = JSONParser()
  private var features: FeatureDecoder
  /// The first line, which is read early for its columns.
  private var pending: LineReader.Line?

  init(
    _ input: InputBuffer, from start: Int, options: FeedReader.Options
  ) throws(FeedError) {
    lines = LineReader(input: input, position: start, maximumBytes: options.maximumFeatureBytes)
    features = FeatureDecoder(format: .ndjson, options: options)
    pending = try lines.next()
    columns =
      if let pending {
        try Self.columns(of: pending, in: input, parser, &features)
      } else {
        EventColumn.feed
      }
  }

  private static func columns(
    of line: LineReader.Line, in input: InputBuffer, _ parser: JSONParser,
    _ features: inout FeatureDecoder
  ) throws(FeedError) -> [EventColumn] {
    let root: csj_element
    do throws(JSONParser.SyntaxError) {
      root = try parser.parseWithNaN(input.bytes(line.range))
    } catch {
      throw input.error(
        line.endsWithLineBreak ? .invalidJSON : .truncated,
        "the first line of \(input.name) is not JSON", at: line.range.lowerBound,
        detail: error.sentence)
    }
    let columns = features.readColumns(ofLine: root)
    for required in [EventColumn.code, .time, .longitude, .latitude]
    where !columns.contains(required) {
      throw input.error(
        .notAFeed, "\(input.name) is not a feed", at: line.range.lowerBound,
        detail: "Its lines have no member \"\(required.name)\".")
    }
    return columns
  }

  func next(into record: inout EventRecord) throws(FeedError) -> DecodedEvent? {
    var next = pending.take()
    if next == nil { next = try lines.next() }
    guard let line = next else { return nil }
    let bytes = lines.input.bytes(line.range)
    do throws(Rejection) {
      try features.decode(line: try parser.parseEvent(bytes), into: &record)
      return .record
    } catch {
      if !line.endsWithLineBreak, bytes.last != UInt8(ascii: "}") {
        throw lines.input.error(
          .truncated, "\(lines.input.name) is truncated", at: line.range.lowerBound,
          detail: "The last line is not complete.", hint: "Fetch it again.")
      }
      return .reject(error, lines.input.text(of: line))
    }
  }
}
