internal import QuakeModel

/// The headline that USGS would give an event: `M 4.5 - 10 km N of Town`, `M ? Explosion - ...`.
enum EventTitle {
  /// Appends the headline.
  static func append(_ event: QuakeRecord, to text: inout [UInt8]) {
    text += "M ".utf8
    if let magnitude = event.double(.magnitude), magnitude.isFinite {
      let tenths = Int((magnitude.magnitude * 10).rounded())
      if magnitude < 0, tenths > 0 { text.append(UInt8(ascii: "-")) }
      text += "\(tenths / 10).\(tenths % 10)".utf8
    } else {
      text.append(UInt8(ascii: "?"))
    }
    if let type = event.text(.type), type.lowercased() != "earthquake", !type.isEmpty {
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
