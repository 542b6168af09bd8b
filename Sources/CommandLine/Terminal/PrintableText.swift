internal import SafeText

/// Text that may come from anywhere, made fit for a person: on a terminal, in a log, in a variable of
/// the environment.
///
/// It is cut before anything else is done with it, so that what a value costs does not depend on its
/// length.
public enum PrintableText {
  /// How many bytes a value may have on a line.
  public static let lineLimit = 1024
  /// How many bytes a message may have.
  public static let messageLimit = 16 * 1024

  /// The text with each `HiddenCharacter`, which could steer the reader's terminal or turn its order
  /// round, replaced by U+FFFD; line feeds and tabs stay.
  ///
  /// - Parameter limit: Bytes beyond this number are left out, with an ellipsis in their place.
  public static func clean(_ text: String, atMost limit: Int = messageLimit) -> String {
    withUTF8(text) { made(from: $0, limit, keepsLines: true) }
  }

  /// The text as `clean` makes it, on one line.
  public static func line(_ text: String, atMost limit: Int = lineLimit) -> String {
    withUTF8(text) { line(utf8: $0, atMost: limit) }
  }

  /// The same from its UTF-8.
  public static func line(
    utf8: UnsafeRawBufferPointer, atMost limit: Int = lineLimit
  ) -> String {
    made(from: utf8, limit, keepsLines: false)
  }

  /// Whether a character is one of those that are replaced; line feeds and tabs are.
  public static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    HiddenCharacter.includes(scalar.value)
  }

  /// The text as it is, but cut.
  public static func cut(_ text: String, atMost limit: Int = lineLimit) -> String {
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
