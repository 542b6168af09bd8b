import QuakeModel

/// Decodes the events of QuakeML and of SeisComP's XML.
final class XMLEventDecoder: FeedDecoder {
  let format: FeedFormat
  let columns = EventColumn.feed.filter {
    switch $0 {
    case .code, .net, .netCode, .source, .type, .status, .magnitude, .magnitudeType, .place, .time,
      .updated, .longitude, .latitude, .depth, .nst, .dmin, .rms, .gap:
      true
    default: false
    }
  }
  /// Only the time at which it was generated.
  let metadata: FeedMetadata
  private let input: InputBuffer
  private let scanner: XMLScanner
  private let options: FeedReader.Options
  /// Whether the first event, which was read early for its data centre, has not been decoded yet.
  private var isFirst: Bool
  private var publicIDs = PublicIDCheck()

  init(
    _ input: InputBuffer, from start: Int, options: FeedReader.Options
  ) throws(FeedError) {
    var begin = start
    while begin < input.end, [0x20, 0x09, 0x0A, 0x0D].contains(input.byte(at: begin)) { begin += 1 }
    self.input = input
    input.longestGap = options.longestGap ?? FeedReader.longestGapOfXML
    self.options = options
    scanner = XMLScanner(input: input, start: begin, maximumToken: options.maximumFeatureBytes)
    isFirst = try scanner.next()
    format = scanner.dialect == .seisComP ? .seisComP : .quakeML
    var metadata = FeedMetadata()
    metadata.generated = scanner.generated.withUnsafeBytes { Timestamp(iso8601: $0) }
    self.metadata = metadata
    guard !isFirst || identity != nil else {
      throw .unknownCentre(
        input.name, detail: "The publicID of its first event does not name a data centre.")
    }
  }

  /// The identity of the event that was read last; nil if its data centre is not known.
  private var identity: XMLIdentity? {
    XMLIdentity(scanner.event, centre: options.centre, service: options.service)
  }

  func next(into record: inout EventRecord) throws(FeedError) -> DecodedEvent? {
    var hasNext = isFirst
    isFirst = false
    if !hasNext { hasNext = try scanner.next() }
    guard hasNext else { return nil }
    let publicID: PublicID?
    do throws(Rejection) {
      publicID = try decode(into: &record)
    } catch {
      return scanner.withRaw { raw in
        .reject(error, RejectedText(raw, at: scanner.eventOffset, line: scanner.eventLine))
      }
    }
    try publicIDs.check(publicID, of: record, line: scanner.eventLine, in: input)
    return .record
  }

  /// - Returns: The event's publicID, if its code is the name in it.
  private func decode(into record: inout EventRecord) throws(Rejection) -> PublicID? {
    let event = scanner.event
    guard let identity else {
      throw Rejection("The event's publicID does not tell the data centre.")
    }
    if let publicID = identity.publicID, publicID.name.isEmpty, event[.publicID]?.isEmpty == false {
      throw publicID.namesNothing
    }
    try set(identity.code, .code, in: &record)
    try set(identity.source, .source, keepsEmpty: identity.isOwn, in: &record)
    if let net = identity.net { try set(net, .net, keepsEmpty: identity.isOwn, in: &record) }
    if let netCode = identity.netCode {
      try set(netCode, .netCode, keepsEmpty: identity.isOwn, in: &record)
    }
    try setDescription(of: event, isOwn: identity.isOwn, in: &record)
    try setType(of: event, isOwn: identity.isOwn, in: &record)
    let updated = event.modified.isEmpty ? event.created : event.modified
    try read(updated, .updated, .instant, in: &record)
    let origin = origin(of: event)
    if let origin { try set(origin, in: &record) }
    if !identity.isOwn, !record.has(.net) {
      let agency = origin.map(\.agency) ?? []
      try set(agency.isEmpty ? event.agency : agency, .net, in: &record)
    }
    if let magnitude = magnitude(of: event, origin) {
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
    try FieldCheck.checkComplete(record, options)
    return identity.publicID
  }

  // MARK: - Parts

  /// The preferred origin; or else the first that is not rejected, or the first at all.
  private func origin(of event: XMLEvent) -> XMLOrigin? {
    if scanner.dialect == .seisComP {
      let known = scanner.origins
      if let preferred = known[event.preferredOrigin] { return preferred }
      let origins = event.originReferences.lazy.compactMap { known[$0] }
      return origins.first { !$0.isRejected } ?? origins.first
    }
    return event.origins.first { !$0.id.isEmpty && $0.id == event.preferredOrigin }
      ?? event.origins.first { !$0.isRejected } ?? event.origins.first
  }

  /// The preferred magnitude; or else the first one of the origin, or the first at all.
  private func magnitude(of event: XMLEvent, _ origin: XMLOrigin?) -> XMLMagnitude? {
    if scanner.dialect == .seisComP {
      return scanner.magnitudes[event.preferredMagnitude]
        ?? scanner.magnitudes.values.filter { $0.origin == origin?.id && origin != nil }
        .min { $0.id.lexicographicallyPrecedes($1.id) }
    }
    return event.magnitudes.first { !$0.id.isEmpty && $0.id == event.preferredMagnitude }
      ?? event.magnitudes.first { !$0.origin.isEmpty && $0.origin == origin?.id }
      ?? event.magnitudes.first
  }

  private func set(_ origin: XMLOrigin, in record: inout EventRecord) throws(Rejection) {
    try read(origin.time, .time, .instant, in: &record)
    try read(origin.longitude, .longitude, .number, in: &record)
    try read(origin.latitude, .latitude, .number, in: &record)
    if !origin.depth.isEmpty {
      let places = scanner.dialect == .quakeML ? -3 : 0
      let depth = origin.depth.withUnsafeBytes {
        DecimalNumber.parse($0, shiftedBy: places) ?? DecimalNumber.notANumber($0)
      }
      guard let depth else {
        throw origin.depth.withUnsafeBytes { TextReading.wrong(.depth, $0, "a number") }
      }
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
    of event: XMLEvent, isOwn: Bool, in record: inout EventRecord
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
    of event: XMLEvent, isOwn: Bool, in record: inout EventRecord
  ) throws(Rejection) {
    if isOwn, let exact = event[.type] { return try setExact(exact, .type, in: &record) }
    // Some programs write the name of a missing value.
    guard !event.type.elementsEqual("null".utf8) else { return }
    try set(event.type, .type, in: &record)
  }

  // MARK: - Values

  /// Sets a text; nothing if it is empty, unless `keepsEmpty`: an export of ours leaves out what is missing.
  private func set(
    _ text: [UInt8], _ column: EventColumn, keepsEmpty: Bool = false, in record: inout EventRecord
  ) throws(Rejection) {
    guard keepsEmpty || !text.isEmpty else { return }
    try TextReading.text.set(text, column, in: &record)
  }

  /// Sets a text of our own, which may be empty.
  private func setExact(
    _ escaped: [UInt8]?, _ column: EventColumn, in record: inout EventRecord
  ) throws(Rejection) {
    guard let escaped else { return }
    guard let text = XMLIdentity.unescaped(escaped) else {
      throw Rejection("The \(FieldCheck.name(column)) is not written as an export writes it.")
    }
    try TextReading.text.set(text, column, in: &record)
  }

  private func read(
    _ text: [UInt8], _ column: EventColumn, _ reading: TextReading, in record: inout EventRecord
  ) throws(Rejection) {
    guard !text.isEmpty else { return }
    try reading.set(text, column, in: &record)
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
