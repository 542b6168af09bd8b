/// A source of bytes: a file, a descriptor, an HTTP body, or another source decompressed.
///
/// The consumer pulls bytes; a source never calls back. A source has one owner, which uses it from one thread
/// at a time.
public protocol ByteSource {
  /// Reads at least one byte and at most `buffer.count`, and blocks if there are none yet; 0 at the end.
  /// `buffer` must not be empty.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int
}
