import Postgres
import QuakeFormat
import QuakeHistory
import QuakeModel
import QuakeQuery

/// Makes documents of events. Memory does not depend on their number.
struct EventDocument {
  var format: ExportFormat
  var form: ServiceForm

  /// The number of bytes that are collected before they are handed over.
  private static let partSize = 64 << 10

  /// The document of a query's events, and their number.
  ///
  /// - Parameter query: The events; nil: none.
  func made(
    of query: EventQuery?, _ head: DocumentHead, over connection: Connection
  ) throws -> (Document, count: Int) {
    var document = DocumentWriter(contentType: format.mediaType)
    var counted =
      format.needsCount
      ? try CountedHead(head, most: query?.limit, in: &document) { format.makeWriter(form: form) }
      : nil
    var writer = format.makeWriter(form: form)
    if counted == nil { writer.begin(head) }
    var count = 0
    if var query {
      query.columns = format.columns
      try query.read(over: connection) { event in
        count += 1
        writer.event(event, revision: nil)
        if writer.count >= Self.partSize { try writer.drain { try document.write($0) } }
      }
    }
    writer.end()
    try writer.drain { try document.write($0) }
    try counted?.fill(count, in: &document)
    return (try document.finish(), count)
  }
}

/// The document about one event, with the products that the store knows of.
enum DetailDocument {
  /// The columns that an origin consists of.
  private static let origin: Set<String> = Set(
    [
      EventColumn.time, .longitude, .latitude, .depth, .magnitude, .magnitudeType, .status, .type,
      .nst, .dmin, .rms, .gap,
    ].map(\.name))

  /// - Parameter includesSuperseded: Whether the products have the event's earlier origins, too.
  static func make(
    of event: EventRecord, form: ServiceForm, includesSuperseded: Bool = false,
    over connection: Connection
  ) throws -> Document {
    var earlier: [EventRecord] = []
    if includesSuperseded, let code = event.code {
      try EventHistory(connection: connection).versions(of: code) { version in
        guard let old = version.old, version.changed.contains(where: origin.contains) else {
          return
        }
        earlier.append(old)
        // The latest are enough, and memory is limited.
        if earlier.count > 1000 { earlier.removeFirst() }
      }
    }
    let bytes = DetailWriter.document(of: event, earlier: earlier, form: form)
    return Document(bytes, contentType: ExportFormat.geojson.mediaType)
  }
}
