/// The formats in which the catalogue is served.
public enum SimulatedFormat: String, CaseIterable, Sendable {
  /// A GeoJSON FeatureCollection with USGS's properties.
  case geojson
  /// USGS's CSV with 22 columns.
  case csv
  /// FDSN's text, in answers to queries only.
  case text

  /// Those in which summary feeds are served.
  public static let ofSummaries: [SimulatedFormat] = [.geojson, .csv]

  var contentType: String {
    switch self {
    case .geojson: "application/json; charset=utf-8"
    case .csv: "text/csv; charset=utf-8"
    case .text: "text/plain; charset=utf-8"
    }
  }
}
