public import QuakeModel

/// The formats in which events leave the store.
public enum ExportFormat: String, Sendable, CaseIterable {
  /// GeoJSON in the form of USGS's feeds.
  case geojson
  /// CSV with USGS's 22 columns.
  case csv
  /// One JSON object a line, as `quake-query list --json` prints it.
  case ndjson
  /// The text format of FDSN event services, version 1.2 with 14 columns.
  case fdsnText = "fdsn-text"
  /// QuakeML 1.2.
  case quakeml
  /// KML 2.2 for Google Earth and GIS programs.
  case kml
  /// An Atom feed (RFC 4287).
  case atom

  private static let endings: [(String, ExportFormat)] = [
    (".geojson", .geojson), (".json", .geojson), (".csv", .csv), (".ndjson", .ndjson),
    (".jsonl", .ndjson), (".txt", .fdsnText), (".text", .fdsnText), (".quakeml", .quakeml),
    (".qml", .quakeml), (".xml", .quakeml), (".kml", .kml), (".atom", .atom),
  ]

  /// The format of a file with this name, by its ending; nil if no format has it. An ending of compression
  /// has to be removed before.
  public init?(fileName: String) {
    let name = fileName.lowercased()
    guard let known = Self.endings.first(where: { name.hasSuffix($0.0) }) else { return nil }
    self = known.1
  }

  /// The media type of a document.
  public var mediaType: String {
    switch self {
    case .geojson: "application/json; charset=utf-8"
    case .csv: "text/csv; charset=utf-8"
    case .ndjson: "application/x-ndjson; charset=utf-8"
    case .fdsnText: "text/plain; charset=utf-8"
    case .quakeml: "application/xml; charset=utf-8"
    case .kml: "application/vnd.google-earth.kml+xml"
    case .atom: "application/atom+xml; charset=utf-8"
    }
  }

  /// Whether a document states the number of its events before the first.
  public var needsCount: Bool { self == .geojson }

  /// Whether a document states how often each event has been written.
  public var hasRevisions: Bool { self == .quakeml }

  /// The columns that a document has, in the order of the table. No other column needs to be read.
  public var columns: [EventColumn] {
    let wanted: Set<EventColumn>
    switch self {
    case .ndjson: return EventColumn.allCases
    case .geojson:
      wanted = Set(EventColumn.feed).union([.withdrawnAt, .supersededBy])
    case .csv:
      wanted = [
        .code, .net, .type, .status, .magnitude, .magnitudeType, .place, .time, .updated,
        .longitude, .latitude, .depth, .nst, .dmin, .rms, .gap, .withdrawnAt, .supersededBy,
      ]
    case .fdsnText:
      wanted = [
        .code, .net, .netCode, .source, .type, .magnitude, .magnitudeType, .place, .time,
        .longitude, .latitude, .depth, .withdrawnAt, .supersededBy,
      ]
    case .quakeml:
      wanted = [
        .code, .net, .netCode, .source, .type, .status, .magnitude, .magnitudeType, .place, .time,
        .updated, .longitude, .latitude, .depth, .nst, .dmin, .rms, .gap, .withdrawnAt,
        .supersededBy,
      ]
    case .kml, .atom:
      wanted = [
        .code, .source, .type, .status, .magnitude, .magnitudeType, .place, .time, .updated,
        .longitude, .latitude, .depth, .title, .url, .withdrawnAt, .supersededBy,
      ]
    }
    return EventColumn.allCases.filter(wanted.contains)
  }

  /// Whether a document has a headline.
  public var hasTitle: Bool {
    switch self {
    case .geojson, .kml, .atom: true
    case .csv, .ndjson, .fdsnText, .quakeml: false
    }
  }

  /// A writer of one document.
  ///
  /// - Parameters:
  ///   - form: The form for programs that read USGS's documents; nil for the form that an import reads without a
  ///     loss.
  ///   - isForSpreadsheets: Whether, in CSV, an apostrophe precedes texts that a spreadsheet would take for
  ///     formulas. An import keeps it.
  public func makeWriter(
    form: ServiceForm? = nil, isForSpreadsheets: Bool = false
  ) -> any EventWriter {
    switch self {
    case .geojson: GeoJSONWriter(form: form)
    case .csv: CSVWriter(isForSpreadsheets: isForSpreadsheets)
    case .ndjson: NDJSONWriter()
    case .fdsnText: FDSNTextWriter()
    case .quakeml: QuakeMLWriter()
    case .kml: KMLWriter(form: form)
    case .atom: AtomWriter(form: form)
    }
  }
}

/// The form of documents that a server sends to the programs which read USGS's feeds and event service.
///
/// Those programs fail on values that USGS always has, so in GeoJSON an event has a depth (0 if it is not
/// known), `updated` (the origin time), `url`, `title`, `type`, `ids`, `sources` and `types` in any case. A
/// document of this form is not meant to be imported: a document without a form has missing values as null.
public struct ServiceForm: Sendable {
  /// Where the address in `detail` leads.
  public enum Detail: Sendable {
    /// To the document beside the summary feeds.
    case feed
    /// To the query of the FDSN event service for the event.
    case query
  }

  /// The address of the server without a slash at its end, such as `http://127.0.0.1:8080`.
  public var baseURL: String
  /// Where the address in `detail` leads.
  public var detail: Detail

  /// A form of the given parts.
  public init(baseURL: String, detail: Detail) {
    self.baseURL = baseURL
    self.detail = detail
  }

  /// The addresses of the events themselves, for those without one.
  var pages: EventAddress { EventAddress(before: baseURL + "/v1/quakes/") }

  /// The addresses of the events as QuakeML. Clients take the name of the file from the path.
  var quakeML: EventAddress {
    EventAddress(before: baseURL + "/earthquakes/feed/v1.0/detail/", after: ".quakeml")
  }

  /// The addresses of the events' detail documents.
  var details: EventAddress {
    switch detail {
    case .feed:
      EventAddress(before: baseURL + "/earthquakes/feed/v1.0/detail/", after: ".geojson")
    case .query:
      EventAddress(before: baseURL + "/fdsnws/event/1/query?eventid=", after: "&format=geojson")
    }
  }
}
