import CSimdjson
import Simdjson

/// Finds the events in a stream of GeoJSON, whatever its layout, without parsing them.
///
/// It reads the members of the outermost object in any order: it keeps `metadata`, returns the elements of
/// `features` and skips the others. A document that is one `Feature` counts as a collection of one. The
/// largest permitted event limits the memory.
final class FeatureSplitter {
  /// The bytes of one element of `features`.
  struct Feature {
    /// The bytes, followed by `CSJ_PADDING` readable ones, and valid until the splitter is used again.
    let bytes: UnsafeRawBufferPointer
    let offset: Int
  }

  static let maximumMetadataBytes = 64 * 1024
  /// One level less than the parser permits, for the document itself.
  static let maximumDepth = JSONParser.maximumDepth - 1
  private static let maximumKeyBytes = 1024

  private enum Phase {
    case start
    /// Before a member's key; after a comma there must be one.
    case member(afterComma: Bool)
    case afterMember
    /// Before an element of `features`; after a comma there must be one.
    case element(afterComma: Bool)
    case afterElement
    case finished
  }

  let input: InputBuffer
  /// The metadata that has been read so far.
  private(set) var metadata = FeedMetadata()
  /// The number of features returned so far.
  private(set) var featureCount = 0
  private let maximumFeatureBytes: Int
  private let parser: JSONParser
  private var phase = Phase.start
  private var position: Int
  /// The offset from which bytes must be kept in memory, if it is not `position`.
  private var hold: Int?
  /// The offset of the document, as long as it may be a single feature.
  private var documentStart: Int?
  private var sawFeatures = false
  private var documentType: [UInt8]?

  /// Reads from `position` on, which is past any byte order mark.
  init(input: InputBuffer, position: Int, maximumFeatureBytes: Int, parser: JSONParser) {
    self.input = input
    self.position = position
    self.maximumFeatureBytes = maximumFeatureBytes
    self.parser = parser
  }

  /// The next feature, or nil at the document's proper end.
  func next() throws(FeedError) -> Feature? {
    while true {
      switch phase {
      case .start: try beginDocument()
      case .member(let afterComma):
        try readMember(afterComma: afterComma)
      case .afterMember:
        if try endsAfter(closing: UInt8(ascii: "}"), in: "the outermost object") {
          if let feature = try endDocument() { return feature }
        } else {
          phase = .member(afterComma: true)
        }
      case .element(let afterComma):
        if let feature = try readElement(afterComma: afterComma) { return feature }
        phase = .afterMember
      case .afterElement:
        if try endsAfter(closing: UInt8(ascii: "]"), in: "\"features\"") {
          phase = .afterMember
        } else {
          phase = .element(afterComma: true)
        }
      case .finished:
        return nil
      }
    }
  }
}

// MARK: - The outermost object

extension FeatureSplitter {
  private func beginDocument() throws(FeedError) {
    guard let byte = try skipSpace() else {
      throw FeedError(.emptyBody, "\(input.name) is empty", detail: "The body is empty.")
    }
    guard byte == UInt8(ascii: "{") else {
      throw input.error(
        .notAFeed, "\(input.name) is not a feed", at: position,
        detail: "The JSON document is not an object.")
    }
    documentStart = position
    position += 1
    phase = .member(afterComma: false)
  }

  private func readMember(afterComma: Bool) throws(FeedError) {
    guard let byte = try skipSpace() else { throw truncated() }
    if byte == UInt8(ascii: "}"), !afterComma {
      phase = .afterMember
      return
    }
    guard byte == UInt8(ascii: "\"") else { throw unexpected(byte, "a member's name") }
    let key = try readShortString()
    guard let colon = try skipSpace() else { throw truncated() }
    guard colon == UInt8(ascii: ":") else { throw unexpected(colon, "a colon") }
    position += 1
    guard let first = try skipSpace() else { throw truncated() }
    phase = .afterMember
    if key.elementsEqual("features".utf8) {
      guard first == UInt8(ascii: "[") else {
        throw input.error(
          .featuresNotArray, "\(input.name) is not a feed", at: position,
          detail: "Its \"features\" are not an array.")
      }
      position += 1
      sawFeatures = true
      documentStart = nil
      phase = .element(afterComma: false)
    } else if key.elementsEqual("metadata".utf8), first == UInt8(ascii: "{") {
      try readMetadata()
    } else if key.elementsEqual("error".utf8) {
      try readError(first)
    } else if key.elementsEqual("type".utf8), first == UInt8(ascii: "\"") {
      documentType = try readShortString()
    } else {
      try skipValue(first)
    }
  }

  private func readMetadata() throws(FeedError) {
    let begin = position
    hold = begin
    defer { hold = nil }
    try skipContainer { () throws(FeedError) in
      guard self.position - begin <= Self.maximumMetadataBytes else {
        throw self.input.error(
          .metadataTooLarge, "the metadata of \(self.input.name) are too large", at: begin,
          detail: "They may have \(Self.maximumMetadataBytes) bytes.")
      }
    }
    do throws(JSONParser.SyntaxError) {
      metadata = FeedMetadata(try parser.parseWithNaN(input.bytes(begin..<position)))
    } catch {
      throw input.error(
        .invalidJSON, "the metadata of \(input.name) are not JSON", at: begin,
        detail: error.sentence)
    }
    let states = metadata.status.map { $0 != 200 } ?? false
    guard !states, metadata.error == nil else {
      throw .errorDocument(input.name, status: metadata.status, text: metadata.error)
    }
  }

  /// Reads a member with which a service reports an error in place of a feed.
  private func readError(_ first: UInt8) throws(FeedError) {
    let begin = position
    hold = begin
    defer { hold = nil }
    let checkSize = { () throws(FeedError) in
      guard self.position - begin <= Self.maximumMetadataBytes else {
        throw .errorDocument(self.input.name, status: nil, text: nil)
      }
    }
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer(checkSize)
    case UInt8(ascii: "\""): try skipString(checkSize)
    default: try skipScalar(checkSize)
    }
    let value = input.bytes(begin..<position)
    for harmless in ["null", "false", "\"\"", "{}", "[]"] where value.elementsEqual(harmless.utf8) {
      return
    }
    throw .errorDocument(
      input.name, status: metadata.status, text: String(decoding: value, as: UTF8.self))
  }

  /// Checks that nothing follows the outermost object. Returns the whole object if it is a feature.
  private func endDocument() throws(FeedError) -> Feature? {
    let end = position
    hold = documentStart
    defer { hold = nil }
    if let byte = try skipSpace() {
      throw input.error(
        .trailingData, "\(input.name) does not end where it should", at: position,
        detail: "\(Self.name(byte)) follows the end of the JSON document.")
    }
    phase = .finished
    guard !sawFeatures else { return nil }
    guard documentType?.elementsEqual("Feature".utf8) == true else {
      throw FeedError(
        .missingFeatures, "\(input.name) is not a feed",
        detail: "The JSON object has no member \"features\".")
    }
    guard let begin = documentStart, end - begin <= maximumFeatureBytes else {
      throw tooLarge(at: 0)
    }
    featureCount += 1
    return Feature(bytes: input.bytes(begin..<end), offset: begin)
  }

  /// Reads on after a member or an element: true if the container ends, false if a comma follows.
  private func endsAfter(closing: UInt8, in container: String) throws(FeedError) -> Bool {
    guard let byte = try skipSpace() else { throw truncated() }
    guard byte == closing || byte == UInt8(ascii: ",") else {
      throw unexpected(byte, "a comma or the end of \(container)")
    }
    position += 1
    return byte == closing
  }
}

// MARK: - Elements of "features"

extension FeatureSplitter {
  /// The element that begins here, or nil at the end of the array, which is skipped.
  private func readElement(afterComma: Bool) throws(FeedError) -> Feature? {
    guard let byte = try skipSpace() else { throw truncated() }
    if byte == UInt8(ascii: "]"), !afterComma {
      position += 1
      return nil
    }
    let begin = position
    hold = begin
    defer { hold = nil }
    let checkSize = { () throws(FeedError) in
      guard self.position - begin <= self.maximumFeatureBytes else {
        throw self.tooLarge(at: begin)
      }
    }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      try skipContainer(maximumDepth: Self.maximumDepth, checkSize)
    case UInt8(ascii: "\""): try skipString(checkSize)
    case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"):
      throw unexpected(byte, "a feature")
    default: try skipScalar(checkSize)
    }
    featureCount += 1
    phase = .afterElement
    return Feature(bytes: input.bytes(begin..<position), offset: begin)
  }

  private func tooLarge(at offset: Int) -> FeedError {
    input.error(
      .featureTooLarge, "feature \(featureCount + 1) of \(input.name) is too large", at: offset,
      detail: "A feature may have \(maximumFeatureBytes) bytes.")
  }
}

// MARK: - Values

extension FeatureSplitter {
  /// Called when more of a value has been skipped; throws if the value exceeds the limit.
  private typealias SizeCheck = () throws(FeedError) -> Void

  private func fill() throws(FeedError) -> Bool {
    if let start = documentStart, position - start > maximumFeatureBytes { documentStart = nil }
    return try input.fill(keepingFrom: min(hold ?? position, documentStart ?? position))
  }

  private func peek() throws(FeedError) -> UInt8? {
    if position == input.end, !(try fill()) { return nil }
    return input.byte(at: position)
  }

  private func skipSpace() throws(FeedError) -> UInt8? {
    while let byte = try peek() {
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      position += 1
    }
    return nil
  }

  private func skipValue(_ first: UInt8) throws(FeedError) {
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer {}
    case UInt8(ascii: "\""): try skipString {}
    case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"):
      throw unexpected(first, "a value")
    default: try skipScalar {}
    }
  }

  private func skipContainer(
    maximumDepth: Int = .max, _ check: SizeCheck
  ) throws(FeedError) {
    let begin = position
    var scan = csj_scan()
    var status = CSJ_SCAN_MORE
    while true {
      if position == input.end, !(try fill()) { throw truncated() }
      let bytes = input.bytes(position..<input.end)
      position += csj_scan_container(
        &scan, bytes.baseAddress, bytes.count, UInt64(maximumDepth), &status)
      try check()
      if status == CSJ_SCAN_END { return }
      if status == CSJ_SCAN_TOO_DEEP {
        throw input.error(
          .nestingTooDeep, "feature \(featureCount + 1) of \(input.name) is nested too deeply",
          at: begin, detail: "A feature may be nested \(maximumDepth) deep.")
      }
    }
  }

  private func skipString(_ check: SizeCheck) throws(FeedError) {
    position += 1
    while let byte = try peek() {
      position += 1
      try check()
      if byte == UInt8(ascii: "\"") { return }
      if byte == UInt8(ascii: "\\") {
        guard try peek() != nil else { break }
        position += 1
      }
    }
    throw truncated()
  }

  /// Skips a number, `true`, `false`, `null`, or an invalid value.
  private func skipScalar(_ check: SizeCheck) throws(FeedError) {
    while let byte = try peek() {
      switch byte {
      case 0x20, 0x0A, 0x0D, 0x09, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): return
      default:
        position += 1
        try check()
      }
    }
    throw truncated()
  }

  /// Reads a string that should be short, such as a key. ASCII escapes are resolved. For a long string, or
  /// one with other escapes, the result equals no name.
  private func readShortString() throws(FeedError) -> [UInt8] {
    let begin = position
    hold = begin
    defer { hold = nil }
    var isShort = true
    try skipString { () throws(FeedError) in
      if self.position - begin > Self.maximumKeyBytes {
        isShort = false
        self.hold = nil
      }
    }
    guard isShort else { return [] }
    let raw = input.bytes(begin..<position)
    // The string is parsed within an array, because old versions of simdjson treat a document that is only a
    // string differently.
    let document = [UInt8(ascii: "[")] + raw + [UInt8(ascii: "]")]
    do throws(JSONParser.SyntaxError) {
      var elements = try parser.parse(copying: document).array
      return elements.next()?.utf8.map(Array.init) ?? []
    } catch {
      throw input.error(
        .invalidJSON, "\(input.name) is not JSON", at: begin, detail: error.sentence)
    }
  }
}

// MARK: - Errors

extension FeatureSplitter {
  private func truncated() -> FeedError {
    let place = sawFeatures ? "after feature \(featureCount)" : "before the features"
    return input.error(
      .truncated, "\(input.name) is truncated", at: position,
      detail: "The input ends \(place), in the middle of the JSON document.",
      hint: "Fetch it again.")
  }

  private func unexpected(_ byte: UInt8, _ expected: String) -> FeedError {
    input.error(
      .invalidJSON, "\(input.name) is not JSON", at: position,
      detail: "Expected \(expected), found \(Self.name(byte)).")
  }

  /// A byte for a message.
  static func name(_ byte: UInt8) -> String {
    if byte > 0x20, byte < 0x7F { return "\"\(Character(Unicode.Scalar(byte)))\"" }
    let hexadecimal = String(byte, radix: 16, uppercase: true)
    return "byte 0x\(byte < 16 ? "0" : "")\(hexadecimal)"
  }
}
