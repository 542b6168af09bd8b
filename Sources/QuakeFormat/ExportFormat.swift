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
