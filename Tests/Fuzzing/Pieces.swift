/// Sizes of pieces in which an input is read. They follow from its bytes, so that it fails again in the same way.
struct Pieces {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  init(_ bytes: [UInt8]) {
    for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  /// The size of the next piece: most are short, so that every boundary lies between two pieces now and then.
  mutating func next() -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let random = Int(state >> 33)
    return random & 1 == 0 ? 1 + random >> 1 & 3 : 1 + random >> 1 & 255
  }

  /// The bytes in pieces.
  static func cut(_ bytes: [UInt8]) -> [[UInt8]] {
    var pieces = Pieces(bytes)
    var result: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(pieces.next())
      result.append(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    return result
  }
}
