import QuakeFormat

/// The formats of the feeds, as they end the addresses.
enum ServedFeedFormat: String, CaseIterable {
  case geojson
  case csv
  case atom
  case quakeml
  case kml

  var export: ExportFormat {
    switch self {
    case .geojson: .geojson
    case .csv: .csv
    case .atom: .atom
    case .quakeml: .quakeml
    case .kml: .kml
    }
  }
}
