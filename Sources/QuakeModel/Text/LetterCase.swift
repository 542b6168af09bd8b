/// Compares texts without regard to the case of their letters.
///
/// The rule is our own, so that Swift and PostgreSQL agree in every locale: the capital letters of ASCII and
/// those of `capitals` count as their small letters, and all other characters as themselves.
public enum LetterCase {
  /// Small letters follow their capitals at this distance in these ranges. Those of alphabets in which
  /// capitals and small letters alternate have distance 1 and every second character.
  private static let ranges: [(first: UInt32, last: UInt32, distance: UInt32)] = [
    (0xC0, 0xD6, 32), (0xD8, 0xDE, 32),  // Latin-1: À to Þ, without ×
    (0x100, 0x12E, 1), (0x132, 0x136, 1), (0x139, 0x147, 1), (0x14A, 0x176, 1), (0x179, 0x17D, 1),
    (0x391, 0x3A1, 32), (0x3A3, 0x3A9, 32),  // Greek
    (0x400, 0x40F, 80), (0x410, 0x42F, 32),  // Cyrillic
    (0x1E00, 0x1E94, 1), (0x1EA0, 0x1EFE, 1),  // Vietnamese and others
  ]

  /// The capital letters beyond ASCII, and below, in the same order, their small letters: the arguments of
  /// PostgreSQL's `translate`.
  public static let capitals = letters { capital, _ in capital }
  /// The small letters of `capitals`.
  public static let smallLetters = letters { capital, distance in capital + distance }

  private static func letters(_ letter: (UInt32, UInt32) -> UInt32) -> String {
    var text = String.UnicodeScalarView()
    for range in ranges {
      for value in stride(from: range.first, through: range.last, by: range.distance == 1 ? 2 : 1) {
        if let scalar = Unicode.Scalar(letter(value, range.distance)) { text.append(scalar) }
      }
    }
    return String(text)
  }

  /// The text in small letters, as UTF-8.
  public static func folded(_ text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { folded(UnsafeRawBufferPointer($0)) }
  }

  /// The text in small letters, as UTF-8.
  static func folded(_ utf8: UnsafeRawBufferPointer) -> [UInt8] {
    var isASCII = true
    let bytes = utf8.map { byte in
      if byte >= 0x80 { isASCII = false }
      return small(byte)
    }
    guard !isASCII else { return bytes }
    var folded = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      folded.append(small(scalar))
    }
    return Array(String(folded).utf8)
  }

  /// The text with the capital letters of ASCII as small ones.
  package static func foldedASCII(_ text: String) -> String {
    String(decoding: text.utf8.map(small), as: UTF8.self)
  }

  private static func small(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte + 32 : byte
  }

  private static func small(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let value = scalar.value
    for range in ranges where value >= range.first && value <= range.last {
      guard range.distance > 1 || (value - range.first) % 2 == 0 else { return scalar }
      return Unicode.Scalar(value + range.distance) ?? scalar
    }
    return scalar
  }

  /// Whether `text` contains a text that is folded already.
  static func contains(_ text: UnsafeRawBufferPointer, _ folded: [UInt8]) -> Bool {
    let text = self.folded(text)
    guard let first = folded.first else { return true }
    guard folded.count <= text.count else { return false }
    for start in 0...(text.count - folded.count) where text[start] == first {
      if text[start..<(start + folded.count)].elementsEqual(folded) { return true }
    }
    return false
  }
}
