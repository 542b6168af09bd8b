package import QuakeModel

extension TextWriter {
  /// Writes text as the content of an element or of an attribute. The few characters that XML 1.0 cannot
  /// contain become U+FFFD.
  package mutating func xml(_ utf8: UnsafeRawBufferPointer) {
    var start = 0
    var index = 0
    while index < utf8.count {
      let escape: StaticString
      var length = 1
      switch utf8[index] {
      case UInt8(ascii: "&"): escape = "&amp;"
      case UInt8(ascii: "<"): escape = "&lt;"
      case UInt8(ascii: ">"): escape = "&gt;"
      case UInt8(ascii: "\""): escape = "&quot;"
      // As references, because a parser replaces these in attributes, and CR everywhere.
      case 0x09: escape = "&#9;"
      case 0x0A: escape = "&#10;"
      case 0x0D: escape = "&#13;"
      case 0x00...0x1F: escape = "\u{FFFD}"
      case 0xEF where XMLCharacters.isNoncharacter(utf8, at: index):
        escape = "\u{FFFD}"
        length = 3
      default:
        index += 1
        continue
      }
      bytes(UnsafeRawBufferPointer(rebasing: utf8[start..<index]))
      literal(escape)
      index += length
      start = index
    }
    bytes(UnsafeRawBufferPointer(rebasing: utf8[start...]))
  }

  package mutating func xml(_ text: String) {
    var text = text
    text.withUTF8 { xml(UnsafeRawBufferPointer($0)) }
  }

  /// Writes the text of a column as content; nothing if there is none.
  mutating func xml(_ event: EventRecord, _ column: EventColumn) {
    event.withUTF8(column) { (utf8: UnsafeRawBufferPointer?) in
      if let utf8 { xml(utf8) }
    }
  }

  /// Writes an element with a number that is finite; nothing for another value.
  mutating func element(_ open: StaticString, _ value: Double?, _ close: StaticString) {
    guard let value, value.isFinite else { return }
    literal(open)
    double(value)
    literal(close)
  }

  /// Writes an element with an instant; nothing if there is none.
  mutating func element(_ open: StaticString, _ value: Timestamp?, _ close: StaticString) {
    guard let value else { return }
    literal(open)
    timestamp(value)
    literal(close)
  }
}

/// The characters that XML 1.0 can contain.
enum XMLCharacters {
  /// Whether U+FFFE or U+FFFF begins here.
  static func isNoncharacter(_ utf8: UnsafeRawBufferPointer, at index: Int) -> Bool {
    index + 2 < utf8.count && utf8[index] == 0xEF && utf8[index + 1] == 0xBF
      && utf8[index + 2] >= 0xBE
  }

  /// Whether the text is empty, or begins or ends with a space or a line break, which readers remove.
  static func hasOuterSpace(_ utf8: UnsafeRawBufferPointer) -> Bool {
    guard let first = utf8.first, let last = utf8.last else { return true }
    return [0x20, 0x09, 0x0A, 0x0D].contains(first) || [0x20, 0x09, 0x0A, 0x0D].contains(last)
  }

  static func canContain(_ utf8: UnsafeRawBufferPointer) -> Bool {
    for index in utf8.indices {
      switch utf8[index] {
      case 0x09, 0x0A, 0x0D: break
      case 0x00...0x1F: return false
      case 0xEF where isNoncharacter(utf8, at: index): return false
      default: break
      }
    }
    return true
  }
}
