import CExpat
import Glibc

/// Finds the events in a stream of QuakeML or of SeisComP's XML, with expat.
///
/// It keeps the parts of one event in memory, and in SeisComP's form the origins, and the events before them. A document
/// type declaration is refused: it could define entities that expand without limit or that name files. So
/// memory and time are bounded by the length of the document and by the limits here.
final class XMLScanner {
  private static let maximumDepth = 64
  /// The most bytes of text of an element that are kept; longer text is rejected by the limits of values.
  private static let maximumText = FieldCheck.maximumTextBytes + 1
  /// The most origins, magnitudes and descriptions of one event.
  private static let maximumParts = 10_000
  /// The most memory for origins outside of the events, and for events before them.
  private static let maximumOriginBytes = 12 << 20
  /// How much of a held event a reject keeps.
  private static let maximumHeldBytes = 1_000

  /// The dialect; nil until the root element has been read.
  private(set) var dialect: XMLDialect?
  /// When the document was generated, if it says so before the first event.
  private(set) var generated: [UInt8] = []
  private(set) var event = XMLEvent()
  private(set) var eventOffset = 0
  private(set) var eventLine = 1
  /// Origins outside of events, by `publicID`.
  private(set) var origins: [[UInt8]: XMLOrigin] = [:]
  /// Their magnitudes, by `publicID`.
  private(set) var magnitudes: [[UInt8]: XMLMagnitude] = [:]
  /// Events before their origins, as ObsPy writes them. They are read at the end of the document.
  private var held: [HeldEvent] = []

  private struct HeldEvent {
    let event: XMLEvent
    let offset: Int
    let line: Int
    let raw: [UInt8]
  }

  private let input: InputBuffer
  private let parser: XML_Parser
  /// The longest token, such as a tag with its attributes.
  private let maximumToken: Int
  /// Where expat's first byte is in the input.
  private let start: Int
  /// Where the bytes begin that expat has got last.
  private var chunkStart: Int
  private var isSuspended = false
  private var isFinished = false
  private var failure: FeedError?

  private var nodes: [XMLNode] = [.document]
  private var ignoredDepth = 0
  private var leaf: XMLLeaf?
  private var text: [UInt8] = []
  /// The prefix of the elements that are read, with its colon.
  private var prefix: [UInt8] = []
  private var isInEvent = false
  private var hasEvents = false
  private var hasParameters = false
  private var partCount = 0
  private var originBytes = 0
  private var origin = XMLOrigin()
  private var magnitude = XMLMagnitude()
  private var description = XMLEvent.Description()
  /// The beginning of the event as it is written, without what is in the present chunk.
  private var raw: [UInt8] = []

  /// Reads from `start` on, which is past any byte order mark.
  init(input: InputBuffer, start: Int, maximumToken: Int) {
    guard let parser = XML_ParserCreate(nil) else {
      preconditionFailure("expat has no memory for a parser")
    }
    self.input = input
    self.parser = parser
    self.start = start
    self.maximumToken = maximumToken
    chunkStart = start
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { data, name, attributes in XMLScanner.from(data)?.begin(name, attributes) },
      { data, _ in XMLScanner.from(data)?.end() })
    XML_SetCharacterDataHandler(parser) { data, bytes, count in
      XMLScanner.from(data)?.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }
    XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
      XMLScanner.from(data)?.stopAtDoctype()
    }
  }

  deinit { XML_ParserFree(parser) }

  private static func from(_ data: UnsafeMutableRawPointer?) -> XMLScanner? {
    data.map { Unmanaged<XMLScanner>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Reads up to the end of the next event; false at the document's proper end.
  func next() throws(FeedError) -> Bool {
    while !isFinished {
      let status: XML_Status
      if isSuspended {
        isSuspended = false
        status = XML_ResumeParser(parser)
      } else {
        status = try parseChunk()
      }
      if let failure { throw failure }
      switch status {
      case XML_STATUS_SUSPENDED:
        isSuspended = true
        guard dialect == .seisComP, event.lacksOrigin(in: origins) else { return true }
        hold()
      case XML_STATUS_OK:
        try checkToken()
        var state = XML_ParsingStatus()
        XML_GetParsingStatus(parser, &state)
        guard state.finalBuffer != 0, state.parsing == XML_FINISHED else { continue }
        guard hasParameters else {
          throw error(
            .missingFeatures, "\(input.name) is not a feed",
            detail: "Its root element has no child \"eventParameters\".")
        }
        isFinished = true
        held.reverse()
      default: throw syntaxError()
      }
    }
    guard let last = held.popLast() else { return false }
    (event, eventOffset, eventLine, raw) = (last.event, last.offset, last.line, last.raw)
    return true
  }

  private func hold() {
    input.eventEnds()
    let raw = withRaw { Array($0.prefix(Self.maximumHeldBytes)) }
    keepOutside(event.bytes + raw.count) {
      held.append(HeldEvent(event: event, offset: eventOffset, line: eventLine, raw: raw))
    }
  }

  private func parseChunk() throws(FeedError) -> XML_Status {
    if isInEvent { keepRaw(upTo: chunkStart..<input.end) }
    // The bytes that were read to recognise the format come first.
    if chunkStart == start, chunkEnd == nil {
      chunkEnd = input.end
    } else {
      chunkStart = input.end
      // The tag that has not ended may be that of an event, which is kept as it is written.
      _ = try input.fill(keepingFrom: isInEvent ? input.end : min(offset, input.end))
      chunkEnd = input.end
    }
    let bytes = input.bytes(chunkStart..<input.end)
    return XML_Parse(
      parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
      bytes.isEmpty ? 1 : 0)
  }

  private var chunkEnd: Int?

  /// Expat keeps a token that has not ended, and reads it again with each chunk.
  private func checkToken() throws(FeedError) {
    let done = offset
    guard input.end - done <= maximumToken else {
      throw input.error(
        .featureTooLarge, "an element of \(input.name) is too large", at: chunkStart,
        detail: "A tag with its attributes may have \(maximumToken) bytes.")
    }
  }

  // MARK: - The event as it is written

  private func keepRaw(upTo chunk: Range<Int>) {
    let space = FeedReject.maximumRawBytes + 4 - raw.count
    let begin = raw.isEmpty ? eventOffset : chunk.lowerBound
    guard space > 0, begin < chunk.upperBound else { return }
    raw.append(contentsOf: input.bytes(begin..<min(chunk.upperBound, begin + space)))
  }

  /// The event read last as it is written, cut to what a reject keeps.
  func withRaw<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    guard !isFinished else { return raw.withUnsafeBytes(body) }
    let end =
      start + Int(XML_GetCurrentByteIndex(parser)) + Int(XML_GetCurrentByteCount(parser))
    keepRaw(upTo: chunkStart..<min(end, input.end))
    return raw.withUnsafeBytes(body)
  }

  // MARK: - Errors

  private func stop(_ error: FeedError) {
    if failure == nil { failure = error }
    XML_StopParser(parser, XML_Bool(0))
  }

  private var offset: Int { start + max(0, Int(XML_GetCurrentByteIndex(parser))) }

  private func error(
    _ code: FeedError.Code, _ message: String, detail: String? = nil, hint: String? = nil
  ) -> FeedError {
    let place = "At byte \(offset), line \(XML_GetCurrentLineNumber(parser))."
    return FeedError(code, message, detail: detail.map { "\($0) \(place)" } ?? place, hint: hint)
  }

  private func syntaxError() -> FeedError {
    let code = XML_GetErrorCode(parser)
    switch code {
    case XML_ERROR_NO_ELEMENTS, XML_ERROR_UNCLOSED_TOKEN, XML_ERROR_UNCLOSED_CDATA_SECTION,
      XML_ERROR_PARTIAL_CHAR:
      return error(
        .truncated, "\(input.name) is truncated",
        detail: "The input ends in the middle of the XML document.", hint: "Fetch it again.")
    case XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
      return error(
        .trailingData, "\(input.name) does not end where it should",
        detail: "Something follows the end of the XML document.")
    default:
      let reason = XML_ErrorString(code).map { String(cString: $0) } ?? "unknown error"
      return error(.invalidXML, "\(input.name) is not XML", detail: "expat says: \(reason).")
    }
  }

  private func stopAtDoctype() {
    stop(
      error(
        .refusedXML, "\(input.name) has a document type declaration, which is refused",
        detail: "Such a declaration can define entities that expand without limit or read files.",
        hint: "QuakeML needs none: remove it if you trust the file."))
  }
}

// MARK: - Elements

extension XMLScanner {
  private func begin(
    _ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) {
    guard failure == nil, let name else { return }
    guard ignoredDepth == 0 else {
      ignoredDepth += 1
      if nodes.count + ignoredDepth > Self.maximumDepth { stopAtDepth() }
      return
    }
    let full = UnsafeRawBufferPointer(start: name, count: strlen(name))
    let node = nodes[nodes.count - 1]
    if node == .document { return beginDocument(full) }
    guard let local = localName(full, in: node) else { return ignoredDepth = 1 }
    switch node.child(local, dialect: dialect ?? .quakeML) {
    case .ignored: ignoredDepth = 1
    case .leaf(let kind):
      leaf = kind
      text.removeAll(keepingCapacity: true)
      nodes.append(.text)
    case .node(let child):
      nodes.append(child)
      switch child {
      case .parameters: hasParameters = true
      case .event: beginEvent(attributes)
      case .origin:
        origin = XMLOrigin()
        origin.id = publicID(attributes)
      case .magnitude:
        magnitude = XMLMagnitude()
        magnitude.id = publicID(attributes)
      case .description: description = XMLEvent.Description()
      default: break
      }
    }
  }

  private func stopAtDepth() {
    stop(
      error(
        .nestingTooDeep, "\(input.name) is nested too deeply",
        detail: "Its elements may be nested \(Self.maximumDepth) deep."))
  }

  /// The name without its prefix; nil if the prefix is not that of the elements that are read.
  private func localName(
    _ full: UnsafeRawBufferPointer, in node: XMLNode
  ) -> UnsafeRawBufferPointer? {
    if node == .root {
      // The element with the events decides: its namespace may have any prefix.
      prefix.removeAll()
      if let colon = full.firstIndex(of: UInt8(ascii: ":")) {
        prefix.append(contentsOf: full[...colon])
      }
    }
    guard !prefix.isEmpty else { return full }
    guard full.starts(with: prefix) else { return nil }
    return UnsafeRawBufferPointer(rebasing: full[prefix.count...])
  }

  private func beginDocument(_ name: UnsafeRawBufferPointer) {
    let local = name.firstIndex(of: UInt8(ascii: ":")).map {
      UnsafeRawBufferPointer(rebasing: name[($0 + 1)...])
    }
    switch String(decoding: local ?? name, as: UTF8.self) {
    case "quakeml": dialect = .quakeML
    case "seiscomp": dialect = .seisComP
    case "kml":
      return stop(notImported("KML", "KML files are for maps: quake-query writes them only."))
    case "feed":
      return stop(
        notImported("an Atom feed", "Feeds are for readers: quake-query writes them only."))
    case "html":
      return stop(
        error(
          .html, "\(input.name) looks like an HTML page, not a feed",
          hint: "Check the URL, and whether a captive portal answers in its place."))
    default:
      return stop(
        error(
          .unsupportedFormat, "\(input.name) is XML of an unknown kind",
          detail: "Its root is neither \"quakeml\" nor \"seiscomp\".",
          hint: "Ask the service for QuakeML, GeoJSON, CSV or text."))
    }
    nodes.append(.root)
  }

  private func notImported(_ kind: String, _ detail: String) -> FeedError {
    error(
      .unsupportedFormat, "\(input.name) is \(kind), which cannot be imported", detail: detail,
      hint: "Use GeoJSON, CSV, NDJSON, FDSN text or QuakeML.")
  }

  private func beginEvent(_ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
    event = XMLEvent()
    partCount = 0
    isInEvent = true
    hasEvents = true
    eventOffset = offset
    eventLine = Int(XML_GetCurrentLineNumber(parser))
    raw.removeAll(keepingCapacity: true)
    Self.forEach(attributes) { name, value in
      for (known, attribute) in XMLEvent.Attribute.names where XMLText.isEqual(known, name) {
        event.attributes[attribute.rawValue] = Array(value.prefix(Self.maximumText))
      }
    }
  }

  private func publicID(
    _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) -> [UInt8] {
    var id: [UInt8] = []
    Self.forEach(attributes) { name, value in
      if XMLText.isEqual("publicID", name) { id = Array(value.prefix(Self.maximumText)) }
    }
    return id
  }

  /// Calls `body` with each attribute's name, without its prefix, and value.
  private static func forEach(
    _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
  ) {
    guard var next = attributes else { return }
    while let name = next[0], let value = next[1] {
      let local = strchr(name, Int32(UInt8(ascii: ":"))).map { UnsafePointer($0 + 1) } ?? name
      body(
        UnsafeRawBufferPointer(start: local, count: strlen(local)),
        UnsafeRawBufferPointer(start: value, count: strlen(value)))
      next += 2
    }
  }

  private func append(_ bytes: UnsafeRawBufferPointer) {
    guard leaf != nil, ignoredDepth == 0, text.count < Self.maximumText else { return }
    let space = Self.maximumText - text.count
    text.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<min(space, bytes.count)]))
  }

  private func end() {
    guard failure == nil else { return }
    guard ignoredDepth == 0 else { return ignoredDepth -= 1 }
    guard nodes.count > 1 else { return }
    let node = nodes.removeLast()
    switch node {
    case .text:
      if let leaf { set(leaf) }
      leaf = nil
    case .description: keep { event.descriptions.append(description) }
    case .magnitude: endMagnitude()
    case .origin: endOrigin()
    case .event:
      isInEvent = false
      XML_StopParser(parser, XML_Bool(1))
    default: break
    }
  }

  private func keep(_ part: () -> Void) {
    partCount += 1
    guard partCount <= Self.maximumParts else {
      return stop(
        error(
          .featureTooLarge, "an event of \(input.name) is too large",
          detail: "It may have \(Self.maximumParts) origins, magnitudes and descriptions."))
    }
    part()
  }

  private func endMagnitude() {
    guard dialect == .seisComP else { return keep { event.magnitudes.append(magnitude) } }
    magnitude.origin = origin.id
    keepOutside(magnitude.bytes) { magnitudes[magnitude.id] = magnitude }
  }

  private func endOrigin() {
    guard dialect == .seisComP else { return keep { event.origins.append(origin) } }
    keepOutside(origin.bytes) { origins[origin.id] = origin }
  }

  private func keepOutside(_ bytes: Int, _ part: () -> Void) {
    originBytes += bytes
    guard originBytes <= Self.maximumOriginBytes else {
      return stop(
        error(
          .featureTooLarge, "\(input.name) has too many origins outside of its events",
          detail: "All of them have to be kept in memory, which is limited to 12 MiB.",
          hint: "Export it in parts of at most 10,000 events."))
    }
    part()
  }

  private func set(_ leaf: XMLLeaf) {
    switch leaf {
    case .generated: if !hasEvents { generated = text }
    case .preferredOrigin: event.preferredOrigin = trimmed
    case .preferredMagnitude: event.preferredMagnitude = trimmed
    case .eventType: event.type = trimmed
    case .originReference: keep { event.originReferences.append(trimmed) }
    case .descriptionText: description.text = text
    case .descriptionType: description.kind = trimmed
    case .eventAgency: event.agency = trimmed
    case .created: event.created = trimmed
    case .modified: event.modified = trimmed
    case .time: origin.time = trimmed
    case .longitude: origin.longitude = trimmed
    case .latitude: origin.latitude = trimmed
    case .depth: origin.depth = trimmed
    case .stations: origin.stations = trimmed
    case .rms: origin.rms = trimmed
    case .gap: origin.gap = trimmed
    case .distance: origin.distance = trimmed
    case .mode: origin.mode = trimmed
    case .status: origin.status = trimmed
    case .originAgency: origin.agency = trimmed
    case .magnitudeValue: magnitude.value = trimmed
    case .magnitudeType: magnitude.type = trimmed
    case .magnitudeOrigin: magnitude.origin = trimmed
    }
  }

  /// The collected text without the spaces around it.
  private var trimmed: [UInt8] { XMLText.trimmed(text) }
}
