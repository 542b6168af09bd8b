internal import CCompression

/// Compresses a stream of bytes, in bounded memory.
public protocol StreamCompressor: AnyObject {
  /// Compresses `bytes`, and hands over the parts of the output that are complete.
  func compress(
    _ bytes: UnsafeRawBufferPointer, _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws

  /// Hands over the rest. Nothing can be compressed afterwards.
  func finish(_ part: (UnsafeRawBufferPointer) throws -> Void) throws
}

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

/// How a file is compressed, by the ending of its name.
public enum CompressedForm: String, Sendable, CaseIterable {
  /// gzip (RFC 1952).
  case gzip = ".gz"
  /// Zstandard (RFC 8878).
  case zstd = ".zst"

  /// The form of a file with this name; nil if the name has no such ending.
  public init?(fileName: String) {
    let name = fileName.lowercased()
    guard let form = Self.allCases.first(where: { name.hasSuffix($0.rawValue) }) else { return nil }
    self = form
  }

  /// A compressor of this form.
  public func makeCompressor() -> any StreamCompressor {
    switch self {
    case .gzip: GzipCompressor()
    case .zstd: ZstdCompressor()
    }
  }
}

/// A client's list of codings, the field `Accept-Encoding`.
public enum AcceptEncoding {
  /// Whether a list such as `br, gzip;q=0.5` accepts gzip.
  public static func acceptsGzip(_ list: String?) -> Bool {
    guard let list else { return false }
    var wildcard = false
    for coding in list.split(separator: ",") {
      let parts = coding.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
      guard let name = parts.first, name == "gzip" || name == "x-gzip" || name == "*" else {
        continue
      }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      let accepts = (quality ?? 1) > 0
      if name != "*" { return accepts }
      wildcard = accepts
    }
    return wildcard
  }
}
