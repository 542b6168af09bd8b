import CZlib

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
      if count > 0 { return count }
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
