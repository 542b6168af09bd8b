/// Text that may come from anywhere, made fit for a terminal.
public enum PrintableText {
  /// The text with control characters, which could steer the reader's terminal, replaced by U+FFFD;
  /// line breaks and tabs stay.
  public static func clean(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var clean = ""
    for scalar in text.unicodeScalars {
      clean.unicodeScalars.append(isControl(scalar) ? "\u{FFFD}" : scalar)
    }
    return clean
  }

  /// The text as `clean` makes it, on one line.
  public static func line(_ text: String) -> String {
    clean(String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F...0x9F: true
    default: false
    }
  }
}
