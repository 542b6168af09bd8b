/// The formats that can be read, told apart by content.
public enum FeedFormat: String, Sendable, CaseIterable {
  /// USGS GeoJSON: summary feeds, the FDSN service's `format=geojson`, a single feature.
  case usgsGeoJSON = "usgs-geojson"
  /// EMSC's FDSN service, `format=json`.
  case emscJSON = "emsc-json"
  /// GeoNet's quake JSON.
  case geonetJSON = "geonet-json"
  /// USGS CSV.
  case usgsCSV = "usgs-csv"

  /// What `source` says for events read in this format.
  var source: StaticString {
    switch self {
    case .usgsGeoJSON, .usgsCSV: "usgs"
    case .emscJSON: "emsc"
    case .geonetJSON: "geonet"
    }
  }

  /// What stands before the catalogue's own identifier in `code`, so that two catalogues cannot
  /// mean two events by one code. USGS's identifiers are as they are: they begin with a network.
  var codePrefix: StaticString {
    switch self {
    case .usgsGeoJSON, .usgsCSV: ""
    case .emscJSON: "emsc:"
    case .geonetJSON: "geonet:"
    }
  }
}
