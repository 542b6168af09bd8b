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

  /// The data centre of the catalogue; nil if the format does not imply it.
  var centre: DataCentre? {
    switch self {
    case .usgsGeoJSON, .usgsCSV: .usgs
    case .emscJSON: .emsc
    case .geonetJSON: .geonet
    case .fdsnText: nil
    }
  }
}
