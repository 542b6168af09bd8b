import QuakeModel

/// Converts the events of QuakeML and of SeisComP's XML to records.
struct XMLEventDecoder {
  /// The columns that such documents have.
  static let columns: [QuakeColumn] = [
    .code, .net, .netCode, .source, .type, .status, .magnitude, .magnitudeType, .place, .time,
    .updated, .longitude, .latitude, .depth, .nst, .dmin, .rms, .gap,
  ]

  private let strict: Bool
  private let centre: DataCentre?
  private let service: DataCentre?

  /// - Parameters:
  ///   - centre: The data centre that the user names.
  ///   - service: The data centre of the service that the document comes from.
  init(strict: Bool, centre: DataCentre?, service: DataCentre?) {
    self.strict = strict
    self.centre = centre
    self.service = service
  }

  /// Whether the data centre of the event is known.
  func knowsCentre(of event: XMLEvent) -> Bool {
    XMLIdentity(event, centre: centre, service: service) != nil
  }

  /// Fills `record`, which must be empty, from the event that the scanner has read last. Throws if the
  /// event is invalid.
  ///
  /// - Returns: The event's publicID, if its code is the name in it.
  func decode(
    _ scanner: XMLScanner, into record: inout QuakeRecord
  ) throws(Rejection) -> PublicID? {
    let event = scanner.event
    guard let identity = XMLIdentity(event, centre: centre, service: service) else {
      throw Rejection("The event's publicID does not tell the data centre.")
    }
    if let publicID = identity.publicID, publicID.name.isEmpty, event[.publicID]?.isEmpty == false {
      throw publicID.namesNothing
    }
    try set(identity.code, .code, in: &record)
    try set(identity.source, .source, in: &record)
    if let net = identity.net { try set(net, .net, in: &record) }
    if let netCode = identity.netCode { try set(netCode, .netCode, in: &record) }
    try setDescription(of: event, isOwn: identity.isOwn, in: &record)
    try setType(of: event, isOwn: identity.isOwn, in: &record)
    let updated = event.modified.isEmpty ? event.created : event.modified
    try read(updated, .updated, .instant, in: &record)
    let origin = Self.origin(of: event, scanner)
    if let origin {
      try set(origin, scanner.dialect, in: &record)
    }
    if !identity.isOwn, !record.has(.net) {
      let agency = origin.map(\.agency) ?? []
      try set(agency.isEmpty ? event.agency : agency, .net, in: &record)
    }
    if let magnitude = Self.magnitude(of: event, origin, scanner) {
      try read(magnitude.value, .magnitude, .number, in: &record)
      try set(magnitude.type, .magnitudeType, in: &record)
    }
    if identity.isOwn {
      try setExact(event[.place], .place, in: &record)
      try setExact(event[.magnitudeType], .magnitudeType, in: &record)
      try setExact(event[.status], .status, in: &record)
    }
    guard origin != nil || record.isDeletion else {
      let refersToOne = !event.preferredOrigin.isEmpty || !event.originReferences.isEmpty
      throw refersToOne
        ? Rejection("The document does not contain the event's origin.")
        : Rejection("The event has no origin, so that its time and place are missing.", of: .time)
    }
    try FieldCheck.checkComplete(record, strict: strict)
    return identity.publicID
  }

  // MARK: - Parts

  /// The preferred origin; or else the first that is not rejected, or the first at all.
  private static func origin(of event: XMLEvent, _ scanner: XMLScanner) -> XMLOrigin? {
    if scanner.dialect == .seisComP {
      if let preferred = scanner.origins[event.preferredOrigin] { return preferred }
      let origins = event.originReferences.lazy.compactMap { scanner.origins[$0] }
      return origins.first { !$0.isRejected } ?? origins.first
    }
    return event.origins.first { !$0.id.isEmpty && $0.id == event.preferredOrigin }
      ?? event.origins.first { !$0.isRejected } ?? event.origins.first
  }

  /// The preferred magnitude; or else the first one of the origin, or the first at all.
  private static func magnitude(
    of event: XMLEvent, _ origin: XMLOrigin?, _ scanner: XMLScanner
  ) -> XMLMagnitude? {
    if scanner.dialect == .seisComP {
      return scanner.magnitudes[event.preferredMagnitude]
        ?? scanner.magnitudes.values.filter { $0.origin == origin?.id && origin != nil }
        .min { $0.id.lexicographicallyPrecedes($1.id) }
    }
    return event.magnitudes.first { !$0.id.isEmpty && $0.id == event.preferredMagnitude }
      ?? event.magnitudes.first { !$0.origin.isEmpty && $0.origin == origin?.id }
      ?? event.magnitudes.first
  }

  private func set(
    _ origin: XMLOrigin, _ dialect: XMLDialect?, in record: inout QuakeRecord
  ) throws(Rejection) {
    try read(origin.time, .time, .instant, in: &record)
    try read(origin.longitude, .longitude, .number, in: &record)
    try read(origin.latitude, .latitude, .number, in: &record)
    if !origin.depth.isEmpty {
      let places = dialect == .quakeML ? -3 : 0
      let depth = origin.depth.withUnsafeBytes {
        DecimalNumber.parse($0, shiftedBy: places) ?? DecimalNumber.notANumber($0)
      }
      guard let depth else { throw Self.wrong(.depth, origin.depth, "a number") }
      try FieldCheck.set(depth, .depth, in: &record)
    }
    try read(origin.stations, .nst, .integer, in: &record)
    try read(origin.rms, .rms, .number, in: &record)
    try read(origin.gap, .gap, .number, in: &record)
    try read(origin.distance, .dmin, .number, in: &record)
    if origin.isRejected || origin.mode.isEmpty {
      try set(origin.status, .status, in: &record)
    } else {
      record.set(.status, origin.mode.elementsEqual("manual".utf8) ? "reviewed" : "automatic")
    }
  }

  /// The kinds of descriptions, the one that suits best as a place first.
  private static let descriptionKinds = [
    "earthquake name", "region name", "Flinn-Engdahl region", "nearest cities", "",
  ]

  private func setDescription(
    of event: XMLEvent, isOwn: Bool, in record: inout QuakeRecord
  ) throws(Rejection) {
    for kind in Self.descriptionKinds {
      let found = event.descriptions.first { $0.kind.elementsEqual(kind.utf8) }
      guard let found else { continue }
      let text = isOwn ? found.text : XMLText.trimmed(found.text)
      guard !text.isEmpty else { continue }
      return try set(text, .place, in: &record)
    }
  }

  private func setType(
    of event: XMLEvent, isOwn: Bool, in record: inout QuakeRecord
  ) throws(Rejection) {
    if isOwn, let exact = event[.type] { return try setExact(exact, .type, in: &record) }
    // Some programs write the name of a missing value.
    guard !event.type.elementsEqual("null".utf8) else { return }
    try set(event.type, .type, in: &record)
  }

  // MARK: - Values

  /// Sets a text; nothing if it is empty.
  private func set(
    _ text: [UInt8], _ column: QuakeColumn, in record: inout QuakeRecord
  ) throws(Rejection) {
    guard !text.isEmpty else { return }
    try store(text, column, .text, in: &record)
  }

  /// Sets a text of our own, which may be empty.
  private func setExact(
    _ escaped: [UInt8]?, _ column: QuakeColumn, in record: inout QuakeRecord
  ) throws(Rejection) {
    guard let escaped else { return }
    guard let text = XMLIdentity.unescaped(escaped) else {
      throw Rejection("The \(FieldCheck.name(column)) is not written as an export writes it.")
    }
    try store(text, column, .text, in: &record)
  }

  private func read(
    _ text: [UInt8], _ column: QuakeColumn, _ reading: TextReading, in record: inout QuakeRecord
  ) throws(Rejection) {
    guard !text.isEmpty else { return }
    try store(text, column, reading, in: &record)
  }

  private func store(
    _ text: [UInt8], _ column: QuakeColumn, _ reading: TextReading,
    in record: inout QuakeRecord
  ) throws(Rejection) {
    let result: Result<Void, Rejection> = text.withUnsafeBytes { bytes in
      do throws(Rejection) {
        return .success(try reading.set(bytes, column, in: &record))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private static func wrong(
    _ column: QuakeColumn, _ text: [UInt8], _ expected: String
  ) -> Rejection {
    let found = text.prefix(64).withUnsafeBytes { FeedReject.text($0) }
    return Rejection(
      "The \(FieldCheck.name(column)) \"\(found)\" is not \(expected).", of: column)
  }
}

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
