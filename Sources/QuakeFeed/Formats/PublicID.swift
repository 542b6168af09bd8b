import QuakeModel

/// An identifier of QuakeML, such as `quakeml:eu.emsc/event/20240424_0000123`: a scheme, the authority that gives
/// the names, and a path with the event's name.
///
/// The name is the value of the parameter `eventid`, or else the last part of the path that names anything: not
/// `event` in `smi:local/ndk/C202401010710A/event`. Programs without an authority write a name alone.
struct PublicID {
  /// The authority in lower case; nil if there is none.
  let authority: String?
  /// The event's name; empty if no part of the identifier is one.
  let name: [UInt8]
  /// What stands before the name, and after it. Two identifiers with the same name are of one event only if
  /// these are the same.
  let frame: Frame

  struct Frame: Hashable {
    var before: [UInt8] = []
    var after: [UInt8] = []
  }

  private static let schemes = ["quakeml:", "smi:"]

  /// Parts of a path that say what something is, not which one.
  private static let genericParts: Set<String> = [
    "event", "events", "evt", "ev", "earthquake", "earthquakes", "quake", "eq", "origin", "origins",
    "hypocenter", "hypocentre", "hypo", "epicenter", "epicentre", "magnitude", "mag",
    "focalmechanism", "momenttensor", "mt", "cmt", "solution", "preferred", "main",
  ]
  private static let longestGenericPart = 16

  init(_ text: [UInt8]) {
    let scheme = Self.schemes.first { text.starts(with: $0.utf8) }
    var path = text[...]
    if let scheme {
      let rest = text.dropFirst(scheme.utf8.count)
      if let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex {
        authority = String(decoding: rest[..<slash], as: UTF8.self).lowercased()
        path = rest[(slash + 1)...]
      } else {
        authority = nil
        path = rest
      }
    } else {
      authority = nil
    }
    let found = Self.parameter(in: path) ?? Self.lastName(in: path)
    name = Array(text[found.name])
    frame = Frame(
      before: Array(text[..<found.name.lowerBound]),
      after: found.isWhole ? Array(text[found.name.upperBound...]) : [])
  }

  /// The identifier in `text`, if that begins with the scheme of one.
  init?(withScheme text: UnsafeRawBufferPointer) {
    guard Self.schemes.contains(where: { text.starts(with: $0.utf8) }) else { return nil }
    self.init(Array(text.prefix(FieldCheck.maximumTextBytes)))
  }

  /// The identifier as it was written.
  var text: String { Self.text(of: name, in: frame) }

  /// The identifier of an event of this name in a frame.
  static func text(of name: [UInt8], in frame: Frame) -> String {
    String(decoding: frame.before + name + frame.after, as: UTF8.self)
  }

  /// The reason for which an event without a name is rejected.
  var namesNothing: Rejection {
    Rejection("The identifier \"\(text.prefix(200))\" does not name the event.", of: .code)
  }

  /// Where a name is, and whether what follows it belongs to the identifier.
  private typealias Found = (name: Range<Int>, isWhole: Bool)

  /// The value of the parameter `eventid`; the parameters after it, such as the format, say nothing.
  private static func parameter(in path: ArraySlice<UInt8>) -> Found? {
    let folded = path.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    guard let place = folded.firstRange(of: "eventid=".utf8)?.lowerBound else { return nil }
    let start = path.startIndex + place + "eventid=".utf8.count
    let end =
      path[start...].firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }
      ?? path.endIndex
    return start < end ? (start..<end, false) : nil
  }

  private static func lastName(in path: ArraySlice<UInt8>) -> Found {
    var end = path.endIndex
    while end > path.startIndex {
      let slash = path[..<end].lastIndex(of: UInt8(ascii: "/"))
      let part = path[(slash.map { $0 + 1 } ?? path.startIndex)..<end]
      let value = part[((part.lastIndex(of: UInt8(ascii: "=")) ?? part.startIndex - 1) + 1)...]
      if !isGeneric(value) { return (value.startIndex..<value.endIndex, true) }
      guard let slash else { break }
      end = slash
    }
    return (path.startIndex..<path.startIndex, true)
  }

  private static func isGeneric(_ part: ArraySlice<UInt8>) -> Bool {
    guard !part.isEmpty else { return true }
    guard part.count <= longestGenericPart else { return false }
    return genericParts.contains(String(decoding: part, as: UTF8.self).lowercased())
  }
}

/// Finds two identifiers of one document that lead to one code: of two events with one code, an import would
/// keep the last.
struct PublicIDCheck {
  /// The most codes that are compared, in about 6 MiB.
  private static let mostCodes = 1 << 18
  private static let mostFrames = 4096

  private var frames: [PublicID.Frame] = []
  private var places: [PublicID.Frame: UInt32] = [:]
  private var known: [UInt64: UInt32] = [:]

  /// Adds the identifier of an event. Throws if another one of the document leads to the same code.
  mutating func check(
    _ id: PublicID?, of record: EventRecord, line: Int, in input: InputBuffer
  ) throws(FeedError) {
    guard let id, let other = record.withUTF8(.code, { add(id, code: $0) }) else { return }
    throw FeedError(
      .ambiguousIdentifiers, "two identifiers of \(input.name) lead to one code",
      detail:
        "\"\(other.prefix(300))\" and \"\(id.text.prefix(300))\", on line \(line), both lead to \"\(record.code ?? "")\".",
      hint:
        "If they are different events, import each group of them from a file of its own, with a --source of its own."
    )
  }

  /// Adds the identifier of an event. Returns the other identifier that leads to the same code; nil: there is
  /// none.
  private mutating func add(_ id: PublicID, code: UnsafeRawBufferPointer?) -> String? {
    guard let code, let place = place(of: id.frame) else { return nil }
    var hasher = Hasher()
    hasher.combine(bytes: code)
    let key = UInt64(bitPattern: Int64(hasher.finalize()))
    guard let other = known[key] else {
      if known.count < Self.mostCodes { known[key] = place }
      return nil
    }
    return other == place ? nil : PublicID.text(of: id.name, in: frames[Int(other)])
  }

  private mutating func place(of frame: PublicID.Frame) -> UInt32? {
    if let place = places[frame] { return place }
    guard frames.count < Self.mostFrames else { return nil }
    let place = UInt32(frames.count)
    frames.append(frame)
    places[frame] = place
    return place
  }
}
