internal import QuakeModel

/// QuakeML 1.2 (BED), valid against its RelaxNG schema.
///
/// A `publicID` is `quakeml:quake/event/` and the event's code. Its first colon is written as a slash, because
/// the standard permits no colon, and other characters that it does not permit as `~` and two hexadecimal
/// digits. Attributes of a namespace of our own hold values that the standard's elements would change, such as
/// the original word of an event type that the standard does not have.
struct QuakeMLWriter: TextEventWriter {
  private static let head: StaticString = """
    <?xml version="1.0" encoding="UTF-8"?>
    <q:quakeml xmlns="http://quakeml.org/xmlns/bed/1.2" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2" \
    xmlns:catalog="http://anss.org/xmlns/catalog/0.1" xmlns:quake="urn:x-quake:event:1">
    <eventParameters publicID="quakeml:quake/export">

    """
  /// The schema's limits, in characters; a text with at most that number of bytes keeps them.
  private static let longestAgency = 64
  private static let longestMagnitudeType = 32

  var out = TextWriter()

  mutating func begin(_ head: DocumentHead) {
    out.literal(Self.head)
    out.literal("<creationInfo><creationTime>")
    out.timestamp(head.generated)
    out.literal("</creationTime></creationInfo>\n")
  }

  mutating func event(_ event: EventRecord, revision: Int64?) {
    let hasOrigin = event.has(.time) && event.has(.longitude) && event.has(.latitude)
    let hasMagnitude = event.magnitude?.isFinite ?? false
    out.literal("<event publicID=\"")
    publicID("event", event)
    out.byte(UInt8(ascii: "\""))
    catalogueAttributes(event)
    exactAttributes(event, hasMagnitude: hasMagnitude)
    out.literal(">")
    if hasOrigin {
      out.literal("<preferredOriginID>")
      publicID("origin", event)
      out.literal("</preferredOriginID>")
    }
    if hasMagnitude {
      out.literal("<preferredMagnitudeID>")
      publicID("magnitude", event)
      out.literal("</preferredMagnitudeID>")
    }
    type(event)
    if event.has(.place) {
      out.literal("<description><text>")
      out.xml(event, .place)
      out.literal("</text><type>earthquake name</type></description>")
    }
    if hasOrigin { origin(event) }
    if hasMagnitude { magnitude(event, hasOrigin: hasOrigin) }
    out.literal("<creationInfo>")
    agency(event)
    out.element("<creationTime>", event.updated, "</creationTime>")
    if let revision {
      out.literal("<version>")
      out.integer(Int(revision))
      out.literal("</version>")
    }
    out.literal("</creationInfo></event>\n")
  }

  mutating func end() { out.literal("</eventParameters>\n</q:quakeml>\n") }
}

// MARK: - Elements

extension QuakeMLWriter {
  private mutating func type(_ event: EventRecord) {
    guard event.isPast || event.has(.type) else { return }
    out.literal("<type>")
    if event.isPast {
      out.literal(PastEvent.type)
    } else {
      event.withUTF8(.type) { (type: UnsafeRawBufferPointer?) in
        if let type { out.literal(QuakeMLTerms.eventType(type)) }
      }
    }
    out.literal("</type>")
  }

  private mutating func origin(_ event: EventRecord) {
    out.literal("<origin publicID=\"")
    publicID("origin", event)
    out.literal("\"><time><value>")
    if let time = event.time { out.timestamp(time) }
    out.literal("</value></time>")
    out.element("<longitude><value>", event.longitude, "</value></longitude>")
    out.element("<latitude><value>", event.latitude, "</value></latitude>")
    if let depth = event.depth {
      out.literal("<depth><value>")
      out.thousandfold(depth)
      out.literal("</value></depth>")
    }
    if event.has(.nst) || event.has(.rms) || event.has(.gap) || event.has(.dmin) {
      out.literal("<quality>")
      if let nst = event.stationCount {
        out.literal("<usedStationCount>")
        out.integer(nst)
        out.literal("</usedStationCount>")
      }
      out.element("<standardError>", event.rms, "</standardError>")
      out.element("<azimuthalGap>", event.azimuthalGap, "</azimuthalGap>")
      out.element("<minimumDistance>", event.nearestStationDistance, "</minimumDistance>")
      out.literal("</quality>")
    }
    let evaluation = evaluation(event)
    if let mode = evaluation.mode {
      out.literal("<evaluationMode>")
      out.literal(mode)
      out.literal("</evaluationMode>")
    }
    if let status = evaluation.status {
      out.literal("<evaluationStatus>")
      out.literal(status)
      out.literal("</evaluationStatus>")
    }
    out.literal("</origin>")
  }

  private mutating func magnitude(_ event: EventRecord, hasOrigin: Bool) {
    out.literal("<magnitude publicID=\"")
    publicID("magnitude", event)
    out.literal("\">")
    out.element("<mag><value>", event.magnitude, "</value></mag>")
    event.withUTF8(.magnitudeType) { (type: UnsafeRawBufferPointer?) in
      guard let type, type.count <= Self.longestMagnitudeType else { return }
      out.literal("<type>")
      out.xml(type)
      out.literal("</type>")
    }
    if hasOrigin {
      out.literal("<originID>")
      publicID("origin", event)
      out.literal("</originID>")
    }
    out.literal("</magnitude>")
  }

  private mutating func agency(_ event: EventRecord) {
    event.withUTF8(.net) { (net: UnsafeRawBufferPointer?) in
      guard let net, !net.isEmpty, net.count <= Self.longestAgency else { return }
      out.literal("<agencyID>")
      out.xml(net)
      out.literal("</agencyID>")
    }
  }

  private func evaluation(_ event: EventRecord) -> QuakeMLTerms.Evaluation {
    event.withUTF8(.status) { (status: UnsafeRawBufferPointer?) -> QuakeMLTerms.Evaluation in
      status.map(QuakeMLTerms.evaluation) ?? QuakeMLTerms.Evaluation()
    }
  }
}

// MARK: - Identifiers and attributes

extension QuakeMLWriter {
  private mutating func publicID(_ kind: StaticString, _ event: EventRecord) {
    out.literal("quakeml:quake/")
    out.literal(kind)
    out.byte(UInt8(ascii: "/"))
    event.withUTF8(.code) { (code: UnsafeRawBufferPointer?) in
      guard let code else { return }
      let colon = code.firstIndex(of: UInt8(ascii: ":")) ?? code.count
      escaped(UnsafeRawBufferPointer(rebasing: code[..<colon]))
      guard colon < code.count else { return }
      out.byte(UInt8(ascii: "/"))
      escaped(UnsafeRawBufferPointer(rebasing: code[(colon + 1)...]))
    }
  }

  /// Writes text in the characters that every identifier and attribute may have.
  private mutating func escaped(_ utf8: UnsafeRawBufferPointer) {
    guard !utf8.allSatisfy(Self.isPlain) else { return out.bytes(utf8) }
    for byte in utf8 {
      if Self.isPlain(byte) {
        out.byte(byte)
      } else {
        out.byte(UInt8(ascii: "~"))
        out.byte(Self.digit(byte >> 4))
        out.byte(Self.digit(byte & 15))
      }
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x41 + value - 10
  }

  /// Writes network and code in the ANSS catalogue's attributes, as USGS does.
  private mutating func catalogueAttributes(_ event: EventRecord) {
    for (column, plain, exact) in [
      (.net, " catalog:eventsource=\"", " quake:net=\""),
      (.netCode, " catalog:eventid=\"", " quake:net_code=\""),
    ] as [(EventColumn, StaticString, StaticString)] {
      event.withUTF8(column) { (utf8: UnsafeRawBufferPointer?) in
        guard let utf8 else { return }
        let isPlain = !utf8.isEmpty && utf8.allSatisfy(Self.isPlain)
        out.literal(isPlain ? plain : exact)
        escaped(utf8)
        out.byte(UInt8(ascii: "\""))
      }
    }
    event.withUTF8(.source) { (source: UnsafeRawBufferPointer?) in
      guard let source, !source.isEmpty, source.allSatisfy(Self.isPlain) else { return }
      out.literal(" catalog:datasource=\"")
      out.bytes(source)
      out.byte(UInt8(ascii: "\""))
    }
  }

  /// Writes the values that an import would not find in the standard's elements as they are.
  private mutating func exactAttributes(_ event: EventRecord, hasMagnitude: Bool) {
    exact(" quake:source=\"", event, .source) { _ in !event.codeTellsSource }
    if !event.isPast {
      exact(" quake:type=\"", event, .type) {
        !$0.equals(QuakeMLTerms.eventType($0))
      }
    }
    exact(" quake:status=\"", event, .status) { status in
      guard let column = QuakeMLTerms.evaluation(status).column else { return true }
      return !status.equals(column)
    }
    exact(" quake:place=\"", event, .place) { $0.isEmpty || !XMLCharacters.canContain($0) }
    exact(" quake:magnitude_type=\"", event, .magnitudeType) {
      !hasMagnitude || $0.count > Self.longestMagnitudeType || XMLCharacters.hasOuterSpace($0)
        || !XMLCharacters.canContain($0)
    }
  }

  private mutating func exact(
    _ name: StaticString, _ event: EventRecord, _ column: EventColumn,
    if isNeeded: (UnsafeRawBufferPointer) -> Bool
  ) {
    event.withUTF8(column) { (utf8: UnsafeRawBufferPointer?) in
      guard let utf8, isNeeded(utf8) else { return }
      out.literal(name)
      escaped(utf8)
      out.byte(UInt8(ascii: "\""))
    }
  }
}

/// QuakeML's words for the store's values.
enum QuakeMLTerms {
  /// The event type for the column `type`: QuakeML's word for it, or "other event". The writer marks withdrawn and
  /// superseded events with "not existing" itself: an import would withdraw any other event of that type.
  static func eventType(_ type: UnsafeRawBufferPointer) -> StaticString {
    guard let word = EventTypes.word(for: type),
      !word.withUTF8Buffer({ UnsafeRawBufferPointer($0).equals("not existing") })
    else { return "other event" }
    return word
  }

  struct Evaluation {
    var mode: StaticString?
    var status: StaticString?
    /// The value of the column `status` that an import makes of it.
    var column: StaticString?
  }

  private static let statuses: [StaticString] = ["preliminary", "confirmed", "final", "rejected"]

  static func evaluation(_ status: UnsafeRawBufferPointer) -> Evaluation {
    if status.isWord("automatic") {
      return Evaluation(mode: "automatic", column: "automatic")
    }
    if status.isWord("reviewed") || status.isWord("manual") {
      return Evaluation(mode: "manual", status: "reviewed", column: "reviewed")
    }
    let word = statuses.first { status.isWord($0) }
    return Evaluation(status: word, column: word)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the text is exactly this word.
  fileprivate func equals(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { elementsEqual($0) }
  }
}
