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

  /// A child element.
  enum Child {
    /// An element with children.
    case node(XMLNode)
    /// An element whose text is collected.
    case leaf(XMLLeaf)
    /// An element that is ignored with all that it contains.
    case ignored
  }

  /// The child with this name.
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
