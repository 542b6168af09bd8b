/// Text as a part of a URL: a name in its path, or a name or value in its query.
package enum PercentEncoding {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// The text with every byte escaped that has a meaning in URLs or in header fields.
  package static func text(_ text: String) -> String {
    var text = text
    var bytes: [UInt8] = []
    text.withUTF8 { append(UnsafeRawBufferPointer($0), keeping: [0x2C, 0x7E], to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a code with every byte escaped that not every part of a URL or an identifier can have.
  package static func append(
    _ code: UnsafeRawBufferPointer, keeping others: [UInt8] = [], to bytes: inout [UInt8]
  ) {
    for byte in code {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x3A: bytes.append(byte)
      case _ where others.contains(byte): bytes.append(byte)
      default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
  }

  /// The byte that a percent sign and two hexadecimal digits stand for; nil if they are none.
  package static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
    guard let high = value(high), let low = value(low) else { return nil }
    return high << 4 | low
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}
