/// Reads header fields for requests from the text of a file: one `Name: value` a line.
public enum HeaderFile {
  /// Why a text is not such a file. The value of a field may be a secret, so only the line's number is named.
  public struct Invalid: Error {
    /// The line, from 1.
    public let line: Int
    /// The expected content, for the end of a sentence.
    public let expected: String
  }

  /// The largest file in bytes.
  public static let longest = 16 << 10

  /// The fields of a file. Empty lines are ignored.
  public static func read(_ bytes: [UInt8]) throws(Invalid) -> [String] {
    var fields: [String] = []
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      var line = line
      while let last = line.last, last == 0x0D || last == 0x20 || last == 0x09 { line.removeLast() }
      if line.isEmpty { continue }
      let name = line.prefix { $0 != 0x3A }
      guard name.count < line.count, !name.isEmpty, name.allSatisfy(isNameByte) else {
        throw Invalid(line: index + 1, expected: "Name: value")
      }
      // A control character could begin another field.
      let value = line[(name.endIndex + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
      guard !value.isEmpty, value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw Invalid(line: index + 1, expected: "a value without control characters")
      }
      fields.append(
        String(decoding: name, as: UTF8.self) + ": " + String(decoding: value, as: UTF8.self))
    }
    return fields
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
