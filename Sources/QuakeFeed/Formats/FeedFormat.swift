/// The supported formats, which are recognised by content.
public enum FeedFormat: String, Sendable, CaseIterable {
  /// USGS GeoJSON: summary feeds, the FDSN service's `format=geojson`, a single feature.
  case usgsGeoJSON = "usgs-geojson"
  /// EMSC's FDSN service, `format=json`.
  case emscJSON = "emsc-json"
  /// GeoNet's quake JSON.
  case geonetJSON = "geonet-json"
  /// USGS CSV.
  case usgsCSV = "usgs-csv"
  /// FDSN's text, of any data centre: an event service's `format=text`.
  case fdsnText = "fdsn-text"
  /// One JSON object a line, as `quake-query list --json` prints it.
  case ndjson
  /// QuakeML 1.2, or an older version.
  case quakeML = "quakeml"
  /// SeisComP's XML: SC3ML, SCML.
  case seisComP = "scml"

  /// The data centre of the catalogue; nil if the format does not imply it.
  var centre: DataCentre? {
    switch self {
    case .usgsGeoJSON, .usgsCSV: .usgs
    case .emscJSON: .emsc
    case .geonetJSON: .geonet
    case .fdsnText, .ndjson, .quakeML, .seisComP: nil
    }
  }
}
