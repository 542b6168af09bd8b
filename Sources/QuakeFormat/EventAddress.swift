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
  mutating func withAddress(of event: EventRecord, _ body: (UnsafeRawBufferPointer) -> Void) {
    buffer.removeAll(keepingCapacity: true)
    buffer += before
    event.withUTF8(.code) { (code: UnsafeRawBufferPointer?) in
      if let code { PercentEncoding.append(code, to: &buffer) }
    }
    buffer += after
    buffer.withUnsafeBytes(body)
  }
}

/// The headline that USGS would give an event: `M 4.5 - 10 km N of Town`, `M ? Explosion - ...`.
enum EventTitle {
  static func append(_ event: EventRecord, to text: inout [UInt8]) {
    text += "M ".utf8
    if let magnitude = event.magnitude, magnitude.isFinite {
      let tenths = Int((magnitude.magnitude * 10).rounded())
      if magnitude < 0, tenths > 0 { text.append(UInt8(ascii: "-")) }
      text += "\(tenths / 10).\(tenths % 10)".utf8
    } else {
      text.append(UInt8(ascii: "?"))
    }
    if let type = event.type, type.lowercased() != "earthquake", !type.isEmpty {
      text.append(0x20)
      var startsWord = true
      for byte in type.utf8 {
        let isSmall = (0x61...0x7A).contains(byte)
        text.append(startsWord && isSmall ? byte - 32 : byte)
        startsWord = byte == 0x20
      }
    }
    text += " - ".utf8
    event.withUTF8(event.has(.place) ? .place : .code) { (place: UnsafeRawBufferPointer?) in
      if let place { text += place }
    }
  }
}

extension TextWriter {
  /// Writes the headline of an event as the content of an element: its title, or magnitude and place.
  mutating func headline(_ event: EventRecord) {
    guard !event.has(.title) else { return xml(event, .title) }
    literal("M ")
    if let magnitude = event.magnitude, magnitude.isFinite {
      double(magnitude)
    } else {
      byte(UInt8(ascii: "?"))
    }
    literal(" - ")
    xml(event, event.has(.place) ? .place : .code)
  }
}
