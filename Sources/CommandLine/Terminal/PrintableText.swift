internal import Basics
internal import CLinux

/// Cleans text from untrusted sources for a terminal, a log or an environment variable.
///
/// Text is cut before it is cleaned, so that the cost does not depend on its length.
package enum PrintableText {
  /// The most bytes of a value on a line.
  package static let lineLimit = 1024
  /// The most bytes of a message.
  package static let messageLimit = 16 * 1024

  /// The text with each `HiddenCharacter`, which could control the terminal or reverse the order of the text,
  /// replaced by U+FFFD. Line feeds and tabs are kept.
  ///
  /// - Parameter limit: Bytes beyond this number are replaced by an ellipsis.
  package static func clean(_ text: String, atMost limit: Int = messageLimit) -> String {
    withUTF8(text) { made(from: $0, limit, keepsLines: true) }
  }

  /// The cleaned text on one line.
  package static func line(_ text: String, atMost limit: Int = lineLimit) -> String {
    withUTF8(text) { line(utf8: $0, atMost: limit) }
  }

  /// The cleaned text on one line, from UTF-8.
  package static func line(
    utf8: UnsafeRawBufferPointer, atMost limit: Int = lineLimit
  ) -> String {
    made(from: utf8, limit, keepsLines: false)
  }

  /// Whether `line` replaces a character. It also replaces line feeds and tabs.
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    HiddenCharacter.includes(scalar.value)
  }

  /// The text, cut but not cleaned.
  package static func cut(_ text: String, atMost limit: Int = lineLimit) -> String {
    guard text.utf8.count > limit else { return text }
    return withUTF8(text) { utf8 in
      String(decoding: utf8.prefix(UTF8Text.length(of: utf8, upTo: limit)), as: UTF8.self) + "…"
    }
  }

  private static func withUTF8<Value>(
    _ text: String, _ body: (UnsafeRawBufferPointer) -> Value
  ) -> Value {
    var text = text
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  private static func made(
    from utf8: UnsafeRawBufferPointer, _ limit: Int, keepsLines: Bool
  ) -> String {
    let end = UTF8Text.length(of: utf8, upTo: limit)
    let part = UnsafeRawBufferPointer(rebasing: utf8[..<end])
    var text = String(decoding: part, as: UTF8.self)
    if !part.allSatisfy({ (0x20..<0x7F).contains($0) }) { text = clean(text, keepsLines) }
    return end < utf8.count ? text + "…" : text
  }

  private static func clean(_ text: String, _ keepsLines: Bool) -> String {
    var clean = String.UnicodeScalarView()
    var previous: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0A where keepsLines, 0x09 where keepsLines: clean.append(scalar)
      // CR and LF are one line break.
      case 0x0A where previous == "\r": break
      case 0x09...0x0D where !keepsLines, 0x85 where !keepsLines,
        0x2028...0x2029 where !keepsLines:
        clean.append(" ")
      default: clean.append(HiddenCharacter.includes(scalar.value) ? "\u{FFFD}" : scalar)
      }
      previous = scalar
    }
    return String(clean)
  }
}

/// The number of terminal columns that text takes, as the C library knows it.
package enum DisplayWidth {
  /// The width of a text. Combining marks count as 0 columns, East Asian wide characters and emoji as 2.
  package static func of(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + of($1) }
  }

  /// The text, or its beginning and an ellipsis that take `width` columns together.
  package static func cut(_ text: String, to width: Int) -> String {
    guard of(text) > width else { return text }
    guard width > 0 else { return "" }
    var cut = ""
    var used = 1  // the ellipsis
    for character in text {
      let size = of(String(character))
      guard used + size <= width else { break }
      used += size
      cut.append(character)
    }
    return cut + "…"
  }

  /// The text, or as many of its first words as take `width` columns together with an ellipsis. A text whose
  /// first word is too long is cut in that word.
  package static func cutAtWord(_ text: String, to width: Int) -> String {
    let cut = cut(text, to: width)
    guard cut != text else { return text }
    let kept = cut.dropLast()
    // The cut may be at the end of a word by itself.
    guard text.dropFirst(kept.count).first != " ", let space = kept.lastIndex(of: " ") else {
      return cut
    }
    var words = kept[..<space]
    while let last = words.last, last == " " || last == "," { words.removeLast() }
    return words.isEmpty ? cut : words + "…"
  }

  /// The text and as many spaces as make it `width` columns wide.
  package static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - of(text)))
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    let width = quake_character_width(scalar.value)
    return width < 0 ? 1 : Int(width)
  }
}
