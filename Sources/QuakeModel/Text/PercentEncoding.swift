/// Text as a part of a URL: a name in its path, or a name or value in its query.
package enum PercentEncoding {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// The text with every byte escaped that has a meaning in URLs or in header fields.
  package static func text(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x2C, 0x3A:
        bytes.append(byte)
      default:
        bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
