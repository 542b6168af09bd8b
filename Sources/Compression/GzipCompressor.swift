internal import CZlib

/// Compresses a stream of bytes to one gzip member.
public final class GzipCompressor: StreamCompressor {
  // zlib keeps the stream's address; a property's is not fixed.
  private let stream: UnsafeMutablePointer<z_stream>
  private let output: UnsafeMutableRawBufferPointer

  /// - Parameter level: 1, the fastest, to 9, the smallest; nil: zlib's default.
  public init(level: Int32? = nil) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    output = .allocate(byteCount: 256 << 10, alignment: 16)
    // 15 bits of window; 16 more say gzip and not zlib.
    let code = deflateInit2_(
      stream, level ?? Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY,
      ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    // It fails for lack of memory only, which every Swift allocation takes as fatal too.
    precondition(code == Z_OK, "zlib has no memory for a stream")
    rewind()
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
    output.deallocate()
  }

  /// Compresses `bytes`, and hands over the parts of the output that are complete.
  public func compress(
    _ bytes: UnsafeRawBufferPointer, _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    // zlib takes its input as mutable, but does not change it.
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(bytes.count)
    while stream.pointee.avail_in > 0 {
      deflate(stream, Z_NO_FLUSH)
      if stream.pointee.avail_out == 0 { try handOver(part) }
    }
  }

  /// Hands over the rest.
  public func finish(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {
    while deflate(stream, Z_FINISH) != Z_STREAM_END { try handOver(part) }
    try handOver(part)
  }

  private func handOver(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {
    let count = output.count - Int(stream.pointee.avail_out)
    if count > 0 { try part(UnsafeRawBufferPointer(rebasing: output[..<count])) }
    rewind()
  }

  private func rewind() {
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(output.count)
  }
}
