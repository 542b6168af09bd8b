internal import Basics

/// Masks secrets in a text of somebody else, also if it has only pieces of them, or has them with percent codes, escapes,
/// or other characters in between: letters and digits are compared.
struct SecretPieces {
  /// The shortest piece that is masked; a shorter secret is masked as a whole.
  private static let shortest = 8

  private let secrets: [String]
  private let pieces: Set<[UInt8]>
  private let lengths: Set<Int>

  init(_ secrets: [String]) {
    self.secrets = secrets
    var pieces: Set<[UInt8]> = []
    for secret in secrets {
      let letters = Self.compared(Array(secret.utf8)).map(\.byte)
      let length = min(Self.shortest, letters.count)
      guard length >= 4 else { continue }
      for start in 0...letters.count - length {
        pieces.insert(Array(letters[start..<start + length]))
      }
    }
    self.pieces = pieces
    lengths = Set(pieces.map(\.count))
  }

  /// The text without them.
  func hidden(in text: String) -> String {
    let bytes = Array(MaskedText.hide(secrets, in: text).utf8)
    let letters = Self.compared(bytes)
    var result: [UInt8] = []
    // Up to where the bytes are written, or masked.
    var end = 0
    for start in letters.indices {
      for length in lengths where start + length <= letters.count {
        let part = letters[start..<start + length]
        guard let last = part.last, pieces.contains(part.map(\.byte)) else { continue }
        let begin = letters[start].range.lowerBound
        if begin >= end {
          result += bytes[end..<begin]
          result += MaskedText.mask.utf8
        }
        end = max(end, last.range.upperBound)
      }
    }
    return String(decoding: result + bytes[end...], as: UTF8.self)
  }

  /// A byte, and where it stands.
  struct Letter {
    var byte: UInt8
    let range: Range<Int>
  }

  /// The letters and digits of a text, all small.
  private static func compared(_ text: [UInt8]) -> [Letter] {
    letters(of: text).compactMap { letter in
      var letter = letter
      switch letter.byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter.byte += 0x20
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
        break
      default: return nil
      }
      return letter
    }
  }

  /// The bytes that a text stands for: `%41` and `\u0041` are an A.
  static func letters(of text: [UInt8]) -> [Letter] {
    var letters: [Letter] = []
    var index = 0
    while index < text.count {
      let (byte, end) = coded(text, at: index) ?? (text[index], index + 1)
      letters.append(Letter(byte: byte, range: index..<end))
      index = end
    }
    return letters
  }

  private static func coded(_ text: [UInt8], at index: Int) -> (UInt8, Int)? {
    let digits: Range<Int>
    switch text[index] {
    case UInt8(ascii: "%"): digits = index + 1..<index + 3
    case UInt8(ascii: "\\") where text[index...].starts(with: Array("\\u00".utf8)):
      digits = index + 4..<index + 6
    default: return nil
    }
    guard digits.upperBound <= text.count,
      text[digits].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let byte = UInt8(String(decoding: text[digits], as: UTF8.self), radix: 16)
    else { return nil }
    return (byte, digits.upperBound)
  }
}
