import QuakeModel

/// The identity of an event of QuakeML or SeisComP's XML: its code, its catalogue and its network.
///
/// - A `publicID` of our own export has the code itself.
/// - The ANSS catalogue's attributes `eventsource` and `eventid`, which USGS and its contributors write,
///   together are the event's id with USGS.
/// - Another `publicID` names the data centre and the event: see `PublicID`. The code is then the same as that
///   of the centre's other formats.
struct XMLIdentity {
  /// The beginning of the `publicID` of events that QuakeMLWriter has written.
  private static let own = "quakeml:quake/event/"

  private(set) var code: [UInt8] = []
  private(set) var source: [UInt8] = []
  private(set) var net: [UInt8]?
  private(set) var netCode: [UInt8]?
  /// Whether an export of ours has written the event.
  private(set) var isOwn = false
  /// The `publicID`, if the code is the name in it.
  private(set) var publicID: PublicID?

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
    let parts = PublicID(publicID)
    let id = hasCatalogue ? network + number : parts.name
    // Only USGS and its contributors write the attributes.
    let chosen =
      hasCatalogue && centre == nil
      ? .usgs : DataCentre.choose(named: centre, publicID: parts, service: service)
    guard let chosen else { return nil }
    source = Array(chosen.name.utf8)
    let prefix = Array(chosen.codePrefix.utf8)
    code = id.isEmpty || id.starts(with: prefix) ? id : prefix + id
    if !hasCatalogue { self.publicID = parts }
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
}
