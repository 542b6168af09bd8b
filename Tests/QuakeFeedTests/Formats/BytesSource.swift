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
