import Glibc

/// Keeps what is read through it in a file without a name, so that a body can be read as a stream and
/// still be had whole afterwards, with no more memory.
///
/// It has one owner and is used from one thread at a time.
public final class BodySpool: ByteSource {
  private let source: any ByteSource
  private let file: Int32
  private var isAtEnd = false
  /// The first error of the file; what was read is not lost by it, only not kept.
  private var failure: FeedError?

  /// The most bytes that are kept: no feed is so long.
  private static let limit: off_t = 256 << 20
  private static let partBytes = 256 << 10

  /// Keeps what is read from `source` in a file in `folder`.
  ///
  /// - Throws: `.unreadable` if there can be no file.
  public init(_ source: any ByteSource, in folder: String) throws(FeedError) {
    self.source = source
    file = try UnnamedFile.create(in: folder)
  }

  deinit { close(file) }

  /// Reads on; 0 at the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let count = try source.read(into: buffer)
    if count == 0 {
      isAtEnd = true
    } else {
      keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return count
  }

  /// Hands over all of the body, also what nobody has read yet, as a gzip file in parts.
  ///
  /// A source that fails ends it: what has come is what there is.
  public func withCompressedParts(
    _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    readToEnd()
    if let failure { throw failure }
    let compressor = try isCompressed ? nil : GzipCompressor()
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.partBytes, alignment: 16)
    defer { input.deallocate() }
    var offset: off_t = 0
    while true {
      let count = pread(file, input.baseAddress, input.count, offset)
      guard count >= 0 else {
        throw FeedError(
          .unreadable, "could not read the body from its temporary file",
          detail: SystemError.sentence(errno))
      }
      guard count > 0 else { break }
      offset += off_t(count)
      let bytes = UnsafeRawBufferPointer(rebasing: input[..<count])
      if let compressor { try compressor.compress(bytes, part) } else { try part(bytes) }
    }
    try compressor?.finish(part)
  }

  private var isCompressed: Bool {
    var first: [UInt8] = [0, 0]
    return pread(file, &first, 2, 0) == 2 && first == GunzipSource.magic
  }

  private func readToEnd() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while !isAtEnd, failure == nil {
      do throws(FeedError) {
        _ = try read(into: buffer)
      } catch {
        isAtEnd = true
      }
    }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) {
    guard failure == nil else { return }
    guard lseek(file, 0, SEEK_CUR) + off_t(bytes.count) <= Self.limit else {
      failure = FeedError(
        .unreadable, "the body is longer than what is kept, \(Self.limit >> 20) MiB")
      return
    }
    do throws(FeedError) {
      try UnnamedFile.write(bytes, to: file)
    } catch {
      failure = error
    }
  }
}
