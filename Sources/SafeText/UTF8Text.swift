/// Decodes unvalidated UTF-8.
public enum UTF8Text {
  /// The code point that begins at a byte, and its number of bytes; nil if there is no complete character.
  public static func scalar(
    in text: UnsafeRawBufferPointer, at index: Int
  ) -> (scalar: UInt32, length: Int)? {
    let first = UInt32(text[index])
    let length: Int
    var scalar: UInt32
    let least: UInt32
    switch first {
    case 0x00...0x7F: return (first, 1)
    case 0xC2...0xDF: (length, scalar, least) = (2, first & 0x1F, 0x80)
    case 0xE0...0xEF: (length, scalar, least) = (3, first & 0x0F, 0x800)
    case 0xF0...0xF4: (length, scalar, least) = (4, first & 0x07, 0x10000)
    default: return nil
    }
    guard index + length <= text.count else { return nil }
    for offset in 1..<length {
      let byte = UInt32(text[index + offset])
      guard byte & 0xC0 == 0x80 else { return nil }
      scalar = scalar << 6 | byte & 0x3F
    }
    guard scalar >= least, scalar <= 0x10FFFF, !(0xD800...0xDFFF).contains(scalar) else {
      return nil
    }
    return (scalar, length)
  }

  /// The length of the longest beginning of a text that has at most `limit` bytes and ends with a complete
  /// character.
  public static func length(of text: UnsafeRawBufferPointer, upTo limit: Int) -> Int {
    guard text.count > limit else { return text.count }
    var end = max(0, limit)
    // A character has at most three bytes after its first.
    for _ in 0..<3 where end > 0 && text[end] & 0xC0 == 0x80 { end -= 1 }
    return end
  }
}
