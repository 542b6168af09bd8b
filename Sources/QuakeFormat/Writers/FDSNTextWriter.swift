internal import QuakeModel

/// The text format of FDSN event services, version 1.2: 14 columns separated by vertical bars.
///
/// The format has no quotes. A bar becomes U+2502 and a line break U+2424 or U+240D, which look like them, and
/// U+241B comes before a character that would otherwise be mistaken for one of these; so an import restores the
/// text exactly. `Catalog` is the column `source`, which tells an import whose identifiers they are.
struct FDSNTextWriter: TextEventWriter {
  static let header: StaticString =
    """
    #EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|\
    Magnitude|MagAuthor|EventLocationName|EventType

    """

  var out = TextWriter()

  mutating func begin(_ head: DocumentHead) { out.literal(Self.header) }

  mutating func event(_ event: EventRecord, revision: Int64?) {
    event.withUTF8(.code) { (code: UnsafeRawBufferPointer?) in
      // A row that begins with it is a comment.
      if code?.first(where: { $0 != 0x20 && $0 != 0x09 }) == UInt8(ascii: "#") {
        out.literal(Self.escape)
      }
    }
    put(event, .code)
    bar()
    // The specification's times have no zone.
    if let time = event.time { out.timestamp(time, isZoned: false) }
    number(event, .latitude)
    number(event, .longitude)
    number(event, .depth)
    text(event, .net)
    text(event, .source)
    text(event, .net)
    text(event, .netCode)
    text(event, .magnitudeType)
    number(event, .magnitude)
    bar()
    text(event, .place)
    if event.isPast {
      out.literal("|not existing\n")
    } else {
      text(event, .type)
      out.byte(0x0A)
    }
  }

  mutating func end() {}

  private mutating func bar() { out.byte(UInt8(ascii: "|")) }

  private mutating func number(_ event: EventRecord, _ column: EventColumn) {
    bar()
    if let value = event.double(column), value.isFinite { out.double(value) }
  }

  private mutating func text(_ event: EventRecord, _ column: EventColumn) {
    bar()
    put(event, column)
  }

  private mutating func put(_ event: EventRecord, _ column: EventColumn) {
    event.withUTF8(column) { (utf8: UnsafeRawBufferPointer?) in
      guard let utf8 else { return }
      // An empty field is a missing value.
      guard !utf8.isEmpty else { return out.byte(0x20) }
      if utf8.elementsEqual(" ".utf8) { out.literal(Self.escape) }
      guard utf8.contains(where: { $0 == 0x7C || $0 == 0x0A || $0 == 0x0D || $0 == 0xE2 }) else {
        return out.bytes(utf8)
      }
      var index = 0
      while index < utf8.count {
        switch utf8[index] {
        case 0x7C: out.literal("\u{2502}")
        case 0x0A: out.literal("\u{2424}")
        case 0x0D: out.literal("\u{240D}")
        case 0xE2:
          if Self.isReserved(utf8, at: index) { out.literal(Self.escape) }
          out.byte(0xE2)
        case let byte: out.byte(byte)
        }
        index += 1
      }
    }
  }

  private static let escape: StaticString = "\u{241B}"

  /// Whether one of the four characters begins here.
  private static func isReserved(_ utf8: UnsafeRawBufferPointer, at index: Int) -> Bool {
    guard index + 2 < utf8.count else { return false }
    switch (utf8[index + 1], utf8[index + 2]) {
    case (0x94, 0x82), (0x90, 0xA4), (0x90, 0x8D), (0x90, 0x9B): return true
    default: return false
    }
  }
}
