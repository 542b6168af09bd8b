/// A hash of 64 bits for entity tags. It tells contents apart; it is no protection against a forger.
///
/// The steps are those of FNV-1a with words of eight bytes instead of single bytes, and a shift that spreads the
/// high bits. It hashes more than a gigabyte a second, which is little beside the time to make a document.
struct ContentHash {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325
  private var rest: UInt64 = 0
  private var restCount = 0

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    while index < bytes.count, restCount > 0 {
      addByte(bytes[index])
      index += 1
    }
    while index + 8 <= bytes.count {
      mix(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    while index < bytes.count {
      addByte(bytes[index])
      index += 1
    }
  }

  private mutating func addByte(_ byte: UInt8) {
    rest |= UInt64(byte) << (8 * UInt64(restCount))
    restCount += 1
    guard restCount == 8 else { return }
    mix(rest)
    (rest, restCount) = (0, 0)
  }

  private mutating func mix(_ word: UInt64) {
    state = (state ^ word) &* 0x0000_0100_0000_01b3
    state ^= state >> 29
    state = state &* 0xbf58_476d_1ce4_e5b9
  }

  /// The hash of what was added.
  var value: UInt64 {
    var copy = self
    copy.mix(rest ^ UInt64(restCount) << 56)
    return copy.state ^ copy.state >> 32
  }
}
