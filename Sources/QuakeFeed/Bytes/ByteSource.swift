/// Where bytes come from: a file, a descriptor, an HTTP body, or another source decompressed.
///
/// Bytes are pulled; a source never calls back. One source has one owner and is used from one
/// thread at a time.
public protocol ByteSource {
  /// Reads at least one byte and at most `buffer.count`, waiting for them if need be; 0 at the end.
  /// `buffer` must not be empty.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int
}
