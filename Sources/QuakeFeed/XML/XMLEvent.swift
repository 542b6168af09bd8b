import Glibc

/// The values of one event in an XML document, as text. A value that the document lacks is empty.
struct XMLEvent {
  /// The text of an element or attribute.
  typealias Text = [UInt8]

  /// The attributes of the event's element that tell its identity or hold exact values.
  enum Attribute: Int, CaseIterable {
    case publicID, eventSource, eventID, source, net, netCode, type, status, place, magnitudeType

    /// The names without a prefix. Attributes of other names are ignored.
    static let names: [(StaticString, Attribute)] = [
      ("publicID", .publicID), ("eventsource", .eventSource), ("eventid", .eventID),
      ("source", .source), ("net", .net), ("net_code", .netCode), ("type", .type),
      ("status", .status), ("place", .place), ("magnitude_type", .magnitudeType),
    ]
  }

  struct Description {
    var text: Text = []
    var kind: Text = []
  }

  /// nil: the event does not have the attribute.
  var attributes: [Text?] = Array(repeating: nil, count: Attribute.allCases.count)
  var preferredOrigin: Text = []
  var preferredMagnitude: Text = []
  var type: Text = []
  var descriptions: [Description] = []
  var agency: Text = []
  var created: Text = []
  var modified: Text = []
  var origins: [XMLOrigin] = []
  var magnitudes: [XMLMagnitude] = []
  /// Origins outside the event, by `publicID`: SeisComP's form.
  var originReferences: [Text] = []

  /// Whether it refers to origins, of which the preferred one, or else all, are unknown.
  func lacksOrigin(in known: [Text: XMLOrigin]) -> Bool {
    preferredOrigin.isEmpty
      ? !originReferences.isEmpty && !originReferences.contains { known[$0] != nil }
      : known[preferredOrigin] == nil
  }

  /// About its size in memory, in SeisComP's form.
  var bytes: Int {
    let texts =
      [preferredOrigin, preferredMagnitude, type, agency, created, modified] + originReferences
      + attributes.compactMap { $0 } + descriptions.flatMap { [$0.text, $0.kind] }
    return texts.reduce(400) { $0 + ($1.isEmpty ? 0 : $1.count + 48) }
  }

  /// The text of an attribute; nil if the event does not have it.
  subscript(attribute: Attribute) -> Text? { attributes[attribute.rawValue] }
}

struct XMLOrigin {
  var id: XMLEvent.Text = []
  var time: XMLEvent.Text = []
  var longitude: XMLEvent.Text = []
  var latitude: XMLEvent.Text = []
  var depth: XMLEvent.Text = []
  var stations: XMLEvent.Text = []
  var rms: XMLEvent.Text = []
  var gap: XMLEvent.Text = []
  var distance: XMLEvent.Text = []
  var mode: XMLEvent.Text = []
  var status: XMLEvent.Text = []
  var agency: XMLEvent.Text = []

  var isRejected: Bool { status.elementsEqual("rejected".utf8) }

  var bytes: Int {
    let texts = [
      id, time, longitude, latitude, depth, stations, rms, gap, distance, mode, status, agency,
    ]
    return texts.reduce(200) { $0 + ($1.isEmpty ? 0 : $1.count + 48) }
  }
}

struct XMLMagnitude {
  var id: XMLEvent.Text = []
  var value: XMLEvent.Text = []
  var type: XMLEvent.Text = []
  var origin: XMLEvent.Text = []

  var bytes: Int { id.count + value.count + type.count + origin.count + 200 }
}

enum XMLText {
  /// Whether bytes are a word. Called for each element and attribute, so without a loop over bytes.
  static func isEqual(_ word: StaticString, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard word.utf8CodeUnitCount == bytes.count, let start = bytes.baseAddress else { return false }
    return memcmp(word.utf8Start, start, bytes.count) == 0
  }

  /// The text without the spaces and line breaks around it.
  static func trimmed(_ text: [UInt8]) -> [UInt8] {
    func isSpace(_ byte: UInt8) -> Bool {
      byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
    guard let first = text.first, let last = text.last else { return text }
    guard isSpace(first) || isSpace(last) else { return text }
    guard let begin = text.firstIndex(where: { !isSpace($0) }),
      let end = text.lastIndex(where: { !isSpace($0) })
    else { return [] }
    return Array(text[begin...end])
  }
}

/// The elements of QuakeML and of SeisComP's XML that are read, as a tree: what an element is follows from its
/// name and from the element that it is in.
enum XMLNode: UInt8 {
  case document, root, parameters, parametersInfo
  case event, description, eventInfo
  case origin, quality, originInfo
  case magnitude
  /// An element with a value in a child element.
  case time, longitude, latitude, depth, size
  /// Text is collected.
  case text

  enum Child {
    case node(XMLNode)
    case leaf(XMLLeaf)
    /// An element that is ignored with all that it contains.
    case ignored
  }

  func child(_ name: UnsafeRawBufferPointer, dialect: XMLDialect) -> Child {
    func isNamed(_ text: StaticString) -> Bool { XMLText.isEqual(text, name) }
    switch self {
    case .root:
      if isNamed("eventParameters") || isNamed("EventParameters") { return .node(.parameters) }
    case .parameters:
      if isNamed("event") { return .node(.event) }
      if dialect == .quakeML, isNamed("creationInfo") { return .node(.parametersInfo) }
      if dialect == .seisComP, isNamed("origin") { return .node(.origin) }
    case .parametersInfo:
      if isNamed("creationTime") { return .leaf(.generated) }
    case .event:
      if isNamed("preferredOriginID") { return .leaf(.preferredOrigin) }
      if isNamed("preferredMagnitudeID") { return .leaf(.preferredMagnitude) }
      if isNamed("type") { return .leaf(.eventType) }
      if isNamed("description") { return .node(.description) }
      if isNamed("creationInfo") { return .node(.eventInfo) }
      if dialect == .quakeML {
        if isNamed("origin") { return .node(.origin) }
        if isNamed("magnitude") { return .node(.magnitude) }
      } else if isNamed("originReference") {
        return .leaf(.originReference)
      }
    case .description:
      if isNamed("text") { return .leaf(.descriptionText) }
      if isNamed("type") { return .leaf(.descriptionType) }
    case .eventInfo:
      if isNamed("agencyID") { return .leaf(.eventAgency) }
      if isNamed("creationTime") { return .leaf(.created) }
      if isNamed("modificationTime") { return .leaf(.modified) }
    case .origin:
      if isNamed("time") { return .node(.time) }
      if isNamed("longitude") { return .node(.longitude) }
      if isNamed("latitude") { return .node(.latitude) }
      if isNamed("depth") { return .node(.depth) }
      if isNamed("quality") { return .node(.quality) }
      if isNamed("evaluationMode") { return .leaf(.mode) }
      if isNamed("evaluationStatus") { return .leaf(.status) }
      if isNamed("creationInfo") { return .node(.originInfo) }
      if dialect == .seisComP, isNamed("magnitude") { return .node(.magnitude) }
    case .quality:
      if isNamed("usedStationCount") { return .leaf(.stations) }
      if isNamed("standardError") { return .leaf(.rms) }
      if isNamed("azimuthalGap") { return .leaf(.gap) }
      if isNamed("minimumDistance") { return .leaf(.distance) }
    case .originInfo:
      if isNamed("agencyID") { return .leaf(.originAgency) }
    case .magnitude:
      if isNamed(dialect == .quakeML ? "mag" : "magnitude") { return .node(.size) }
      if isNamed("type") { return .leaf(.magnitudeType) }
      if isNamed("originID") { return .leaf(.magnitudeOrigin) }
    case .time: if isNamed("value") { return .leaf(.time) }
    case .longitude: if isNamed("value") { return .leaf(.longitude) }
    case .latitude: if isNamed("value") { return .leaf(.latitude) }
    case .depth: if isNamed("value") { return .leaf(.depth) }
    case .size: if isNamed("value") { return .leaf(.magnitudeValue) }
    case .document, .text: break
    }
    return .ignored
  }
}

enum XMLLeaf: UInt8 {
  case generated
  case preferredOrigin, preferredMagnitude, eventType, originReference
  case descriptionText, descriptionType
  case eventAgency, created, modified
  case time, longitude, latitude, depth, stations, rms, gap, distance, mode, status, originAgency
  case magnitudeValue, magnitudeType, magnitudeOrigin
}

enum XMLDialect {
  /// QuakeML: an event contains its origins and magnitudes, and depths are in metres.
  case quakeML
  /// SeisComP's XML (SC3ML, SCML): an event refers to origins outside of it, which contain their magnitudes, and
  /// depths are in kilometres.
  case seisComP
}
