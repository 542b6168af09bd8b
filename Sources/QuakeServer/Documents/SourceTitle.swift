import Postgres
import QuakeQuery

/// The headline of a document: it names the source of its events, if they have one source.
enum SourceTitle {
  /// The names of sources as their agencies write them. Events without a source of their own are `local`.
  private static let names = [
    "usgs": "USGS", "emsc": "EMSC", "ingv": "INGV", "geonet": "GeoNet", "gfz": "GFZ", "isc": "ISC",
    "sed": "SED", "simulated": "Simulated",
  ]

  /// A headline without its source, such as `All Earthquakes, Past Day`, with the source of a query's events.
  ///
  /// - Parameter query: The events of the document; nil: none. A document without events has the source of the
  ///   newest events of the store.
  static func text(
    _ title: String, of query: EventQuery?, over connection: Connection
  ) throws -> String {
    var sources = try query?.sources(over: connection) ?? []
    if sources.isEmpty {
      var newest = EventQuery()
      newest.limit = 100
      sources = try newest.sources(over: connection)
    }
    guard sources.count == 1, let source = sources.first, !["", "local"].contains(source) else {
      return title
    }
    return "\(names[source] ?? source) \(title)"
  }
}
