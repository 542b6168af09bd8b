import QuakeModel

/// The data centre of a catalogue: the value of `source`, which also distinguishes the identifiers of
/// different catalogues.
public struct DataCentre: Sendable, Hashable {
  /// Its short name in lower case (`usgs`, `emsc`), or the host name of its service.
  public let name: String

  /// USGS, whose identifiers need no prefix, because they begin with a network.
  public static let usgs = DataCentre(known: "usgs")
  /// The simulator, whose identifiers need no prefix either: they begin with `sim`.
  public static let simulated = DataCentre(known: "\(CatalogueCode.simulated)")
  /// The European-Mediterranean Seismological Centre.
  public static let emsc = DataCentre(known: "emsc")
  /// GeoNet, New Zealand.
  public static let geonet = DataCentre(known: "geonet")

  private static let hosts = [
    "earthquake.usgs.gov": "usgs", "www.seismicportal.eu": "emsc", "seismicportal.eu": "emsc",
    "webservices.ingv.it": "ingv", "geofon.gfz.de": "gfz", "geofon.gfz-potsdam.de": "gfz",
    "service.geonet.org.nz": "geonet", "www.isc.ac.uk": "isc", "eida.ethz.ch": "sed",
    "arclink.ethz.ch": "sed",
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

  /// The centre that runs the service at `url`: the known centre of its host, or else one named after the
  /// host. Nil if the URL has no host.
  public init?(url: String) {
    guard let host = URLText.host(of: url)?.lowercased(), !host.isEmpty else { return nil }
    name = Self.hosts[host] ?? String(host.prefix(64))
  }

  /// The centre whose service is known to be at the host of `url`; nil for unknown hosts.
  public static func known(at url: String) -> DataCentre? {
    (URLText.host(of: url)?.lowercased()).flatMap { hosts[$0] }.map { DataCentre(known: $0) }
  }

  /// The data centre of an event: the one that the user names, or else the known one of the event's publicID,
  /// that of the service, or one named after the publicID's authority. Nil: none is known.
  static func choose(
    named: DataCentre?, publicID: PublicID?, service: DataCentre?
  ) -> DataCentre? {
    if let named { return named }
    guard let authority = publicID?.authority else { return service }
    return known(authority: authority) ?? service ?? nameable(authority: authority)
  }

  private static func known(authority: String) -> DataCentre? {
    switch authority {
    case "earthquake.usgs.gov", "comcat.cr.usgs.gov", "us.anss.org": return .usgs
    case "eu.emsc", "eu.emsc-csem", "www.seismicportal.eu": return .emsc
    case "nz.org.geonet", "service.geonet.org.nz": return .geonet
    case "webservices.ingv.it", "it.ingv": return DataCentre(name: "ingv")
    case "org.gfz-potsdam.de", "gfz.de", "geofon.gfz.de", "de.gfz": return DataCentre(name: "gfz")
    case "isc", "isc.ac.uk", "www.isc.ac.uk", "uk.ac.isc": return DataCentre(name: "isc")
    case "ch.ethz.sed": return DataCentre(name: "sed")
    default: return nil
    }
  }

  /// The centre named after an authority. Programs that know no authority write `local`.
  private static func nameable(authority: String) -> DataCentre? {
    guard authority != "local" else { return nil }
    return DataCentre(name: String(authority.prefix(64)))
  }

  /// The prefix of the catalogue's identifiers in `code`, so that two catalogues cannot use one code for
  /// different events.
  public var codePrefix: String { hasFormOfUSGS ? "" : name + ":" }

  /// Whether its feeds and services have the form of USGS's, and its identifiers begin with a network.
  public var hasFormOfUSGS: Bool { self == .usgs || self == .simulated }
}
