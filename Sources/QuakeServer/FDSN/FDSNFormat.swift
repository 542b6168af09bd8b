import QuakeFormat

/// The values of the parameter `format`.
enum FDSNFormat: String, Sendable, CaseIterable {
  case quakeml
  case xml
  case geojson
  case csv
  case kml
  case text

  /// The format of the document.
  var export: ExportFormat {
    switch self {
    case .quakeml, .xml: .quakeml
    case .geojson: .geojson
    case .csv: .csv
    case .kml: .kml
    case .text: .fdsnText
    }
  }

  var isQuakeML: Bool { export == .quakeml }
}
