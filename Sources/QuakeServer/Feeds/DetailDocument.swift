import Postgres
import QuakeFormat
import QuakeHistory
import QuakeModel

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
