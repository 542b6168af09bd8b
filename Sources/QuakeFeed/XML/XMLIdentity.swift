import QuakeModel

/// The identity of an event of QuakeML or SeisComP's XML: its code, its catalogue and its network.
///
/// - A `publicID` of our own export has the code itself.
/// - The ANSS catalogue's attributes `eventsource` and `eventid`, which USGS and its contributors write,
///   together are the event's id with USGS.
/// - Another `publicID` names the data centre, `quakeml:eu.emsc/event/20240424_0000123`, and ends with its
///   identifier. The code is then the same as that of the centre's other formats.
struct XMLIdentity {
  /// The beginning of the `publicID` of events that QuakeMLWriter has written.
  private static let own = "quakeml:quake/event/"

  private(set) var code: [UInt8] = []
  private(set) var source: [UInt8] = []
  private(set) var net: [UInt8]?
  private(set) var netCode: [UInt8]?
  /// Whether an export of ours has written the event.
  private(set) var isOwn = false

  /// Nil if neither the event nor the caller tells the data centre.
  init?(_ event: XMLEvent, centre: DataCentre?, service: DataCentre?) {
    let publicID = event[.publicID] ?? []
    if publicID.starts(with: Self.own.utf8) {
      readOwn(publicID.dropFirst(Self.own.utf8.count), event)
      return
    }
    let network = event[.eventSource] ?? []
    let number = event[.eventID] ?? []
    let hasCatalogue = !network.isEmpty && !number.isEmpty
    let id = hasCatalogue ? network + number : Self.identifier(in: publicID)
    let authority = Self.authority(of: publicID)
    let known = authority.flatMap(Self.knownCentre)
    let chosen =
      centre ?? (hasCatalogue ? .usgs : nil) ?? known ?? service
      ?? authority.flatMap(Self.namedCentre)
    guard let chosen else { return nil }
    source = Array(chosen.name.utf8)
    let prefix = Array(chosen.codePrefix.utf8)
    code = id.isEmpty || id.starts(with: prefix) ? id : prefix + id
    if chosen.hasFormOfUSGS {
      if hasCatalogue {
        net = network
        netCode = number
      }
    } else if !id.isEmpty {
      netCode = Array(code.dropFirst(prefix.count))
    }
  }

  /// Reads the identity that an export of ours has written.
  private mutating func readOwn(_ path: ArraySlice<UInt8>, _ event: XMLEvent) {
    isOwn = true
    var text = Array(path)
    if let slash = text.firstIndex(of: UInt8(ascii: "/")) { text[slash] = UInt8(ascii: ":") }
    code = Self.unescaped(text) ?? []
    if let exact = event[.source].flatMap(Self.unescaped) {
      source = exact
    } else {
      source = code.withUnsafeBytes { code in CatalogueCode.withSource(of: code) { Array($0) } }
    }
    net = event[.net].flatMap(Self.unescaped) ?? event[.eventSource]
    netCode = event[.netCode].flatMap(Self.unescaped) ?? event[.eventID]
  }

  /// Text whose special bytes are written as `~` and two hexadecimal digits; nil if it is not such text.
  static func unescaped(_ text: [UInt8]) -> [UInt8]? {
    guard text.contains(UInt8(ascii: "~")) else { return text }
    var result: [UInt8] = []
    var index = 0
    while index < text.count {
      guard text[index] == UInt8(ascii: "~") else {
        result.append(text[index])
        index += 1
        continue
      }
      guard index + 2 < text.count, let high = digit(text[index + 1]),
        let low = digit(text[index + 2])
      else { return nil }
      result.append(high << 4 | low)
      index += 3
    }
    return result
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    default: nil
    }
  }

  // MARK: - Identifiers of others

  /// The identifier at the end of a `publicID`, or the value of its parameter `eventid`.
  private static func identifier(in publicID: [UInt8]) -> [UInt8] {
    let folded = publicID.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    if let place = folded.firstIndex(ofBytes: "eventid=") {
      let value = publicID[(place + "eventid=".utf8.count)...]
      return Array(value.prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: ";") })
    }
    let last = publicID[((publicID.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]
    return Array(last[((last.lastIndex(of: UInt8(ascii: "=")) ?? last.startIndex - 1) + 1)...])
  }

  /// The authority in lower case: what is between the scheme and the first slash; nil if there is none.
  private static func authority(of publicID: [UInt8]) -> String? {
    for scheme in ["quakeml:", "smi:"] where publicID.starts(with: scheme.utf8) {
      let rest = publicID.dropFirst(scheme.utf8.count)
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex else {
        return nil
      }
      return String(decoding: rest[..<slash], as: UTF8.self).lowercased()
    }
    return nil
  }

  private static func knownCentre(_ authority: String) -> DataCentre? {
    switch authority {
    case "earthquake.usgs.gov", "comcat.cr.usgs.gov", "us.anss.org": return .usgs
    case "eu.emsc", "eu.emsc-csem", "www.seismicportal.eu": return .emsc
    case "nz.org.geonet", "service.geonet.org.nz": return .geonet
    case "webservices.ingv.it", "it.ingv": return DataCentre(name: "ingv")
    case "org.gfz-potsdam.de", "gfz.de", "geofon.gfz.de", "de.gfz": return DataCentre(name: "gfz")
    case "isc", "isc.ac.uk", "www.isc.ac.uk", "uk.ac.isc": return DataCentre(name: "isc")
    default: return nil
    }
  }

  /// The centre named after an authority. Programs that know no authority write `local`.
  private static func namedCentre(_ authority: String) -> DataCentre? {
    guard authority != "local" else { return nil }
    return DataCentre(name: String(authority.prefix(64)))
  }
}
