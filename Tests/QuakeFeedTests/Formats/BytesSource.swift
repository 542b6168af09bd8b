@testable import QuakeFeed

/// Bytes in memory, read in pieces of the given sizes.
final class BytesSource: ByteSource {
  private let bytes: [UInt8]
  private var position = 0
  private let pieceSize: () -> Int
  private let failure: FeedError?

  /// - Parameter failure: thrown in place of the end.
  init(_ bytes: [UInt8], failure: FeedError? = nil, pieceSize: @escaping () -> Int = { .max }) {
    self.bytes = bytes
    self.failure = failure
    self.pieceSize = pieceSize
  }

  convenience init(_ text: String) {
    self.init(Array(text.utf8))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let count = min(buffer.count, bytes.count - position, max(1, pieceSize()))
    if count == 0, let failure { throw failure }
    buffer.copyBytes(from: bytes[position..<(position + count)])
    position += count
    return count
  }
}

/// A generator with a seed, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
