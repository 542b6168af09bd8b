internal import QuakeModel

/// Puts together addresses that contain an event's code, in a buffer that is used again for each event.
struct EventAddress {
  private let before: [UInt8]
  private let after: [UInt8]
  private var buffer: [UInt8] = []

  init(before: String, after: String = "") {
    self.before = Array(before.utf8)
    self.after = Array(after.utf8)
  }

  /// Calls `body` with the address of an event. Characters of the code that a URL cannot have everywhere are
  /// percent-encoded.
  mutating func withAddress(of event: QuakeRecord, _ body: (UnsafeRawBufferPointer) -> Void) {
    buffer.removeAll(keepingCapacity: true)
    buffer += before
    event.withUTF8(.code) { (code: UnsafeRawBufferPointer?) in
      if let code { Self.append(code, to: &buffer) }
    }
    buffer += after
    buffer.withUnsafeBytes(body)
  }

  /// Appends text percent-encoded.
  static func append(_ utf8: UnsafeRawBufferPointer, to buffer: inout [UInt8]) {
    for byte in utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: ":"):
        buffer.append(byte)
      default:
        buffer.append(UInt8(ascii: "%"))
        for half in [byte >> 4, byte & 15] {
          buffer.append(half < 10 ? 0x30 + half : 0x41 + half - 10)
        }
      }
    }
  }
}
