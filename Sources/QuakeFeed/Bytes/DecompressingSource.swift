import CCompression

/// Another source's bytes, decompressed if they begin like gzip or Zstandard data. The name of a file and the headers of a
/// response do not matter.
///
/// Few compressed bytes may become any number of others, or none at all for ever. So the compressed bytes have a limit of
/// their own, and so has the number of bytes that each of them may become.
public final class DecompressingSource: ByteSource {
  private let name: String
  private let original: LimitedSource
  /// The source to read from; nil until the first bytes have been examined.
  private var chosen: (any ByteSource)?
  private var isCompressed = false
  /// The number of bytes read so far.
  private var produced = 0

  /// The most bytes that a compressed byte may become, on average. Feeds reach about 20; what gzip does to a body of
  /// nothing but spaces is 1,000.
  static let mostExpansion = 200
  /// Up to this number of bytes any expansion is allowed.
  static let freelyExpanded = 16 << 20
  /// The most compressed bytes in a row that become nothing. A compressor needs at most 128 KiB for its next block; an
  /// empty gzip member takes 20 bytes, and the index at the end of a Zstandard file 12 bytes for each frame.
  static let longestGap = 1 << 20

  /// Examines `source` at the first read. Errors call the data `name`.
  ///
  /// - Parameter limit: The most bytes of `source`; nil for no limit.
  public init(_ source: any ByteSource, name: String, limit: Int? = nil) {
    original = LimitedSource(source, name: name, limit: limit)
    self.name = name
  }

  /// Reads decompressed bytes; 0 at the end.
  ///
  /// - Throws: `.bodyTooLarge` if the source has more bytes than its limit, or expands too much.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let source: any ByteSource
    if let chosen { source = chosen } else { source = try choose() }
    let count = try source.read(into: buffer)
    produced += count
    if isCompressed, produced > Self.freelyExpanded,
      produced / Self.mostExpansion > original.count
    {
      throw FeedError.bodyExpands(name, from: original.count, to: produced)
    }
    return count
  }

  private func choose() throws(FeedError) -> any ByteSource {
    var first: [UInt8] = []
    let forms = [GunzipSource.magic, ZstdSource.magic]
    // No more bytes than are needed: the rest of a slow source may come much later.
    while forms.contains(where: { $0.count > first.count && $0.starts(with: first) }) {
      guard let byte = try nextByte() else { break }
      first.append(byte)
    }
    let whole = PrefixedSource(prefix: first, source: original)
    let source: any ByteSource =
      switch first {
      case GunzipSource.magic: GunzipSource(whole, name: name)
      case ZstdSource.magic: ZstdSource(whole, name: name)
      default: whole
      }
    isCompressed = forms.contains(first)
    chosen = source
    return source
  }

  private func nextByte() throws(FeedError) -> UInt8? {
    let (bytes, failure) = original.readBytes(atMost: 1)
    if let failure { throw failure }
    return bytes.first
  }
}

/// Decompresses another source's gzip data, one member or several in a row.
///
/// Damaged data throws `.corruptGzip`, and data that ends too early `.truncatedGzip`. gzip contains a
/// checksum and a length, so data that was read to its end is as it was written.
public final class GunzipSource: ByteSource {
  /// The two bytes every gzip member begins with.
  static let magic: [UInt8] = [0x1F, 0x8B]
  private static let inputCapacity = 32 * 1024

  private let source: any ByteSource
  private let name: String
  // zlib keeps the stream's address, and the address of a property is not fixed.
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: UnsafeMutableRawBufferPointer
  /// Whether a member has begun but not ended.
  private var inMember = false
  private var membersRead = 0
  private var isFinished = false
  /// The bytes read since the last one that was decompressed.
  private var gap = 0

  /// Decompresses `source`; `name` is what errors call the data, such as `feed "all_day"`.
  public init(_ source: any ByteSource, name: String) {
    self.source = source
    self.name = name
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    input = .allocate(byteCount: Self.inputCapacity, alignment: 16)
    // It fails only without memory, which is also fatal for every Swift allocation.
    let code = quake_inflate_init_gzip(stream)
    precondition(code == Z_OK, "zlib has no memory for a stream")
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    input.deallocate()
  }

  /// Reads decompressed bytes; 0 after the last member's end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    guard !isFinished else { return 0 }
    let space = min(buffer.count, Int(UInt32.max))
    stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(space)
    while true {
      if stream.pointee.avail_in == 0, !(try refill()) {
        isFinished = true
        if inMember || membersRead == 0 { throw truncated }
        return 0
      }
      if !inMember { try beginMember() }
      let code = inflate(stream, Z_NO_FLUSH)
      switch code {
      case Z_STREAM_END:
        inMember = false
        membersRead += 1
      case Z_OK, Z_BUF_ERROR: break
      default:
        isFinished = true
        throw FeedError(
          .corruptGzip, "the gzip data of \(name) are damaged",
          detail: stream.pointee.msg.map { "zlib says: \(String(cString: $0))." },
          hint: "Fetch them again.")
      }
      let count = space - Int(stream.pointee.avail_out)
      if count > 0 {
        gap = 0
        return count
      }
    }
  }

  private var truncated: FeedError {
    FeedError(
      .truncatedGzip, "the gzip data of \(name) are truncated",
      detail: "They end after \(stream.pointee.total_in) bytes of an unfinished member.",
      hint: "Fetch them again.")
  }

  private func refill() throws(FeedError) -> Bool {
    let count = try source.read(into: input)
    gap += count
    guard gap <= DecompressingSource.longestGap else { throw FeedError.bodyIsBarren(name) }
    stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(count)
    return count > 0
  }

  /// Begins the first or another member at the next byte of input. Other data after a member is an error:
  /// ignoring it would hide a damaged download.
  private func beginMember() throws(FeedError) {
    if membersRead > 0 {
      guard stream.pointee.next_in.pointee == Self.magic[0] else {
        isFinished = true
        throw FeedError(
          .corruptGzip, "the gzip data of \(name) are damaged",
          detail: "Something else follows member \(membersRead).")
      }
      inflateReset(stream)
    }
    inMember = true
  }
}

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
  /// The bytes read since the last one that was decompressed.
  private var gap = 0

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
      if output.pos > 0 {
        gap = 0
        return output.pos
      }
      guard input.pos == input.size else { continue }
      let count = try source.read(into: memory)
      gap += count
      guard gap <= DecompressingSource.longestGap else { throw FeedError.bodyIsBarren(name) }
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
