internal import CZstd

/// Compresses a stream of bytes to one Zstandard frame with a checksum.
public final class ZstdCompressor: StreamCompressor {
  private let context: OpaquePointer
  private let output: UnsafeMutableRawBufferPointer
  private var used = 0

  /// A compressor of zstd's default level, whose memory is about 4 MB.
  public init() {
    guard let context = ZSTD_createCCtx() else {
      preconditionFailure("zstd has no memory for a stream")
    }
    self.context = context
    output = .allocate(byteCount: 128 << 10, alignment: 16)
    // They fail only if the library does not know them.
    _ = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    _ = ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 20)
  }

  deinit {
    ZSTD_freeCCtx(context)
    output.deallocate()
  }

  /// Compresses `bytes`, and hands over the parts of the output that are complete.
  public func compress(
    _ bytes: UnsafeRawBufferPointer, _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try run(bytes, ZSTD_e_continue, part)
  }

  /// Hands over the rest.
  public func finish(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {
    try run(UnsafeRawBufferPointer(start: nil, count: 0), ZSTD_e_end, part)
    try handOver(part)
  }

  private func run(
    _ bytes: UnsafeRawBufferPointer, _ directive: ZSTD_EndDirective,
    _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
    while true {
      var free = ZSTD_outBuffer(
        dst: output.baseAddress.map { $0 + used }, size: output.count - used, pos: 0)
      let left = ZSTD_compressStream2(context, &free, &input, directive)
      precondition(ZSTD_isError(left) == 0, "zstd could not compress")
      used += free.pos
      let isDone = directive == ZSTD_e_end ? left == 0 : input.pos == input.size
      if used == output.count { try handOver(part) } else if isDone { return }
      if isDone, directive == ZSTD_e_end { return }
    }
  }

  private func handOver(_ part: (UnsafeRawBufferPointer) throws -> Void) throws {
    if used > 0 { try part(UnsafeRawBufferPointer(rebasing: output[..<used])) }
    used = 0
  }
}
