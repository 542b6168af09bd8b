import Glibc

/// The parts of pages that are sent to a client with one call, one after the other.
final class PieceList {
  /// Some changes of a page, the first of them without the bytes that were sent before.
  struct Piece {
    var page: Int
    var first: Int
    var end: Int
    var size: Int
  }

  private(set) var pieces: [Piece] = []
  private(set) var size = 0
  let vectors: UnsafeMutablePointer<iovec>

  /// The most pieces, and the bytes after which no further piece is added.
  static let most = 64
  static let mostBytes = 256 << 10

  init() {
    vectors = .allocate(capacity: Self.most)
    pieces.reserveCapacity(Self.most)
  }

  deinit {
    vectors.deallocate()
  }

  var isFull: Bool { pieces.count == Self.most || size >= Self.mostBytes }

  func removeAll() {
    pieces.removeAll(keepingCapacity: true)
    size = 0
  }

  func append(_ bytes: UnsafeRawBufferPointer, page: Int, first: Int, end: Int) {
    vectors[pieces.count] = iovec(
      iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    pieces.append(Piece(page: page, first: first, end: end, size: bytes.count))
    size += bytes.count
  }
}
