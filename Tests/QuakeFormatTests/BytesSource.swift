import QuakeFeed

/// Bytes in memory, handed out in pieces of at most a given size.
final class BytesSource: ByteSource {
  private var rest: ArraySlice<UInt8>
  private let pieceSize: Int

  init(_ bytes: [UInt8], pieceSize: Int = .max) {
    rest = bytes[...]
    self.pieceSize = pieceSize
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let piece = rest.prefix(min(buffer.count, pieceSize))
    buffer.copyBytes(from: piece)
    rest = rest.dropFirst(piece.count)
    return piece.count
  }
}
