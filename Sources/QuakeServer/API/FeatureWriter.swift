import QuakeFormat
import QuakeModel

/// Writes events as GeoJSON: in the form of USGS's feeds, or with columns as properties.
struct FeatureWriter {
  private var count = 0
  private let columns: [EventColumn]?
  private var writer: any EventWriter
  private var json = JSONWriter()
  private var document = DocumentWriter(contentType: mediaType)
  private var head: CountedHead

  /// The media type of GeoJSON (RFC 7946).
  static let mediaType = "application/geo+json"
  private static let partSize = 64 << 10

  /// Begins a document.
  ///
  /// - Parameters:
  ///   - columns: The columns that are properties; nil: USGS's properties.
  ///   - most: The most events that there can be.
  init(_ columns: [EventColumn]?, _ head: DocumentHead, most: Int) throws {
    self.columns = columns
    writer = ExportFormat.geojson.makeWriter()
    self.head = try CountedHead(head, most: Int64(most), in: &document) {
      ExportFormat.geojson.makeWriter()
    }
  }

  static func columns(for columns: [EventColumn]?) -> [EventColumn] {
    columns.map { $0 + [.code, .longitude, .latitude, .depth] } ?? ExportFormat.geojson.columns
  }

  /// An event as a document of its own.
  static func document(
    _ event: EventRecord, _ columns: [EventColumn]?, others: [String]
  ) throws -> Document {
    var document = DocumentWriter(contentType: mediaType)
    if let columns {
      var json = JSONWriter()
      feature(event, columns, &json)
      try json.withBytes { try document.write($0) }
    } else {
      // A writer that has not begun a document writes the event alone.
      var writer = ExportFormat.geojson.makeWriter()
      writer.event(event, revision: nil, others: others)
      try writer.drain { try document.write($0) }
    }
    try document.write("\n")
    return document.finish()
  }

  /// Adds an event.
  ///
  /// - Parameter others: The events of other sources that are the same earthquake.
  /// - Throws: `HTTPError` 413 if the document becomes too long, 503 if it cannot be stored.
  mutating func add(_ event: EventRecord, others: [String]) throws {
    count += 1
    guard let columns else {
      writer.event(event, revision: nil, others: others)
      if writer.count >= Self.partSize { try writer.drain { try document.write($0) } }
      return
    }
    if count > 1 { json.commaAndNewline() }
    Self.feature(event, columns, &json)
    guard json.count >= Self.partSize else { return }
    try json.withBytes { try document.write($0) }
    json.removeWritten()
  }

  private static func feature(
    _ event: EventRecord, _ columns: [EventColumn], _ json: inout JSONWriter
  ) {
    json.object { json in
      json.member("type", "Feature")
      json.key("properties")
      json.quake(event, columns: columns) { _ in }
      json.key("geometry")
      if let longitude = event.longitude, let latitude = event.latitude {
        json.point(longitude, latitude, event.depth)
      } else {
        json.null()
      }
      json.member("id", of: .code, in: event)
    }
  }

  /// The document of all events.
  mutating func finish() throws -> Document {
    if columns == nil {
      writer.end()
      try writer.drain { try document.write($0) }
    } else {
      json.endArray()
      json.endObject()
      json.newline()
      try json.withBytes { try document.write($0) }
    }
    try head.fill(count, in: &document)
    return document.finish()
  }
}
