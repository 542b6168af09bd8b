import CZstd

/// Decompresses another source's Zstandard data, one frame or several in a row.
///
/// Damaged data throws `.corruptZstd`, and data that ends too early `.truncatedZstd`. A frame that needs more
/// than 8 MB of memory, the most that every decoder has to have, is refused.
public final class ZstdSource: ByteSource {
  /// The four bytes every frame begins with.
  static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
  private static let inputCapacity = 64 * 1024
  /// The binary logarithm of the largest window.
  private static let largestWindow: Int32 = 23

  private let source: any ByteSource
  private let name: String
  private let context: OpaquePointer
  private let memory: UnsafeMutableRawBufferPointer
  private var input = ZSTD_inBuffer()
  /// Whether a frame has begun but not ended.
  private var inFrame = true
  private var isFinished = false

  /// Decompresses `source`; `name` is what errors call the data, such as `feed "all_day"`.
  public init(_ source: any ByteSource, name: String) {
    // It fails only without memory, which is also fatal for every Swift allocation.
    guard let context = ZSTD_createDCtx() else {
      preconditionFailure("zstd has no memory for a stream")
    }
    self.source = source
    self.name = name
    self.context = context
    memory = .allocate(byteCount: Self.inputCapacity, alignment: 16)
    _ = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.largestWindow)
  }

  deinit {
    ZSTD_freeDCtx(context)
    memory.deallocate()
  }

  /// Reads decompressed bytes; 0 after the last frame's end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    while !isFinished {
      var output = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
      // Output may be left although there is no more input.
      let before = input.pos
      let hint = ZSTD_decompressStream(context, &output, &input)
      guard ZSTD_isError(hint) == 0 else { throw damaged(hint) }
      if input.pos > before || output.pos > 0 { inFrame = hint != 0 }
      if output.pos > 0 { return output.pos }
      guard input.pos == input.size else { continue }
      let count = try source.read(into: memory)
      input = ZSTD_inBuffer(src: memory.baseAddress, size: count, pos: 0)
      guard count == 0 else { continue }
      isFinished = true
      if inFrame {
        throw FeedError(
          .truncatedZstd, "the Zstandard data of \(name) are truncated",
          detail: "They end in the middle of a frame.", hint: "Fetch them again.")
      }
    }
    return 0
  }

  private func damaged(_ code: Int) -> FeedError {
    isFinished = true
    let reason = ZSTD_getErrorName(code).map { String(cString: $0) } ?? "unknown error"
    return FeedError(
      .corruptZstd, "the Zstandard data of \(name) cannot be decompressed",
      detail: "zstd says: \(reason).",
      hint: "Fetch them again; a window of more than 8 MB is refused (zstd --long, --ultra).")
  }
}
