/// Whose catalogue events come from: what `source` says, and what keeps the identifiers of one
/// catalogue apart from those of another.
public struct DataCentre: Sendable, Hashable {
  /// Its short name in lower case (`usgs`, `emsc`), or the host name of its service.
  public let name: String

  /// USGS: its identifiers are as they are, because they begin with a network.
  public static let usgs = DataCentre(known: "usgs")
  /// The European-Mediterranean Seismological Centre.
  public static let emsc = DataCentre(known: "emsc")
  /// GeoNet, New Zealand.
  public static let geonet = DataCentre(known: "geonet")

  private static let hosts = [
    "earthquake.usgs.gov": "usgs", "www.seismicportal.eu": "emsc", "seismicportal.eu": "emsc",
    "webservices.ingv.it": "ingv", "geofon.gfz.de": "gfz", "geofon.gfz-potsdam.de": "gfz",
    "service.geonet.org.nz": "geonet", "www.isc.ac.uk": "isc",
  ]

  private init(known name: String) {
    self.name = name
  }

  /// The centre of that name; nil if the name is anything but 1 to 64 lower-case letters, digits,
  /// dots, hyphens and underscores.
  public init?(name: String) {
    let isName = name.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "._-".utf8.contains($0)
    }
    guard isName, (1...64).contains(name.utf8.count) else { return nil }
    self.name = name
  }

  /// The centre that runs the service at `url`: by its host, where that is known, else called like
  /// the host. Nil if there is no host in it.
  public init?(url: String) {
    guard let host = URLText.host(of: url)?.lowercased(), !host.isEmpty else { return nil }
    name = Self.hosts[host] ?? String(host.prefix(64))
  }

  /// The centre whose service is known to be at `url`'s host; nil if nobody knows whose that is.
  public static func known(at url: String) -> DataCentre? {
    (URLText.host(of: url)?.lowercased()).flatMap { hosts[$0] }.map { DataCentre(known: $0) }
  }

  /// What stands before the catalogue's own identifier in `code`, so that two catalogues cannot mean
  /// two events by one code.
  public var codePrefix: String { self == .usgs ? "" : name + ":" }
}
