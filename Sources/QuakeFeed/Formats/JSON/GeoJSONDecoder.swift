import CSimdjson
import QuakeModel
import Simdjson

/// Decodes GeoJSON, in any of the three dialects.
final class GeoJSONDecoder: FeedDecoder {
  let format: FeedFormat
  var columns: [EventColumn] { format.featureColumns }
  var metadata: FeedMetadata { splitter.metadata }
  let mayTellGenerated = true
  private let splitter: FeatureSplitter
  private let parser: JSONParser
  private var features: FeatureDecoder
  /// The first feature, which is read early to recognise the dialect.
  private var pending: FeatureSplitter.Feature?

  init(
    _ input: InputBuffer, from start: Int, options: FeedReader.Options
  ) throws(FeedError) {
    let parser = JSONParser()
    splitter = FeatureSplitter(
      input: input, position: start, maximumFeatureBytes: options.maximumFeatureBytes,
      parser: parser)
    let first = try splitter.next()
    format = first.map { Self.dialect(of: $0.bytes, parser: parser) } ?? .usgsGeoJSON
    features = FeatureDecoder(format: format, options: options)
    pending = first
    self.parser = parser
  }

  /// The dialect of a feature: USGS's, unless it has the member that distinguishes another dialect. If the
  /// feature is invalid JSON, its text is searched for the member, because the other features may be valid.
  private static func dialect(
    of feature: UnsafeRawBufferPointer, parser: JSONParser
  ) -> FeedFormat {
    do throws(JSONParser.SyntaxError) {
      for member in try parser.parseWithNaN(feature).members where member.isNamed("properties") {
        for property in member.value.members {
          if property.isNamed("unid") { return .emscJSON }
          if property.isNamed("publicID") { return .geonetJSON }
        }
      }
      return .usgsGeoJSON
    } catch {
      if feature.contains("\"unid\"".utf8) { return .emscJSON }
      return feature.contains("\"publicID\"".utf8) ? .geonetJSON : .usgsGeoJSON
    }
  }

  func next(into record: inout EventRecord) throws(FeedError) -> DecodedEvent? {
    var next = pending.take()
    if next == nil { next = try splitter.next() }
    guard let feature = next else { return nil }
    do throws(Rejection) {
      try features.decode(try parser.parseEvent(feature.bytes), into: &record)
      return .record
    } catch {
      let line = splitter.input.line(at: feature.offset)
      return .reject(error, RejectedText(feature.bytes, at: feature.offset, line: line))
    }
  }
}
