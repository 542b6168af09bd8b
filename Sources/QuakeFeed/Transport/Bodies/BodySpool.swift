internal import Basics
import Glibc

/// A source that also writes the bytes to an unnamed file, so that a body can be read as a stream, and
/// afterwards as a whole, without more memory. It can also read a body that is already in such a file.
///
/// It has one owner, which uses it from one thread at a time.
public final class BodySpool: ByteSource {
  /// The source to read from; nil if the whole body is in the file.
  private let source: (any ByteSource)?
  /// After an error of the file, reading continues, but the body is not kept.
  private let file: BodyFile
  /// The number of bytes read from the file.
  private var position = 0
  /// The error to throw at the end of the body, if any.
  private let end: FeedError?
  private var isAtEnd = false

  /// The most bytes that are kept; no feed has more.
  static let limit = 256 << 20
  private static let partBytes = 256 << 10

  /// Reads from `source`, and keeps the bytes in a file in `folder`.
  ///
  /// - Throws: `.unreadable` if the file cannot be created.
  public init(_ source: any ByteSource, in folder: String) throws(FeedError) {
    self.source = source
    end = nil
    file = BodyFile(
      in: folder,
      limit: (
        Self.limit,
        FeedError(.unreadable, "the body is longer than the limit of \(Self.limit >> 20) MiB")
      ))
    try file.create()
  }

  /// A body that is already in a file, as it was received.
  ///
  /// - Parameter end: The error at the end of the body; nil if it is complete.
  package init(_ file: BodyFile, end: FeedError? = nil) {
    source = nil
    self.end = end
    self.file = file
  }

  /// Reads the next bytes; 0 at the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    guard let source else { return try readKept(into: buffer) }
    let count = try source.read(into: buffer)
    if count == 0 {
      isAtEnd = true
    } else {
      file.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return count
  }

  private func readKept(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let count = try file.read(into: buffer, at: position)
    position += count
    if count == 0, let end { throw end }
    return count
  }

  /// Passes the whole body, including its unread part, to `body` as the parts of a gzip file.
  ///
  /// If the source fails, the result ends there.
  public func withCompressedParts(
    _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    readToEnd()
    if let failure = file.failure { throw failure }
    var compressor: GzipCompressor? = GzipCompressor()
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.partBytes, alignment: 16)
    defer { input.deallocate() }
    var offset = 0
    while true {
      let count = try file.read(into: input, at: offset)
      guard count > 0 else { break }
      let bytes = UnsafeRawBufferPointer(rebasing: input[..<count])
      if offset == 0, bytes.starts(with: GunzipSource.magic) { compressor = nil }
      offset += count
      if let compressor { try compressor.compress(bytes, part) } else { try part(bytes) }
    }
    try compressor?.finish(part)
  }

  private func readToEnd() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while source != nil, !isAtEnd, file.failure == nil {
      do throws(FeedError) {
        _ = try read(into: buffer)
      } catch {
        isAtEnd = true
      }
    }
  }
}

/// The unnamed file in which the body of a feed is stored. It is created with the first byte, because most downloads have
/// no body.
package final class BodyFile {
  private let folder: String
  private let limit: (bytes: Int, excess: FeedError)?
  private var descriptor: Int32 = -1
  private var count = 0
  /// Why the body cannot be kept.
  package private(set) var failure: FeedError?

  /// - Parameter limit: The most bytes, and the error of a body with more; nil: there is no limit.
  package init(in folder: String, limit: (bytes: Int, excess: FeedError)? = nil) {
    self.folder = folder
    self.limit = limit
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Creates the file, if it is not there yet.
  func create() throws(FeedError) {
    guard descriptor < 0 else { return }
    do throws(SystemFailure) {
      descriptor = try UnnamedFile.create(in: folder, named: "quake-body")
    } catch {
      throw FeedError(
        .unreadable, "could not create a temporary file in \"\(folder)\"",
        detail: error.sentence,
        hint: "The body of a feed is stored there while it is read. Set TMPDIR to another folder.")
    }
  }

  /// Appends bytes; false after an error.
  @discardableResult
  package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard failure == nil else { return false }
    do throws(FeedError) {
      if let limit, count + bytes.count > limit.bytes { throw limit.excess }
      try create()
      try write(bytes)
      count += bytes.count
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(FeedError) {
    do throws(SystemFailure) {
      try SystemCalls.write(bytes, to: descriptor)
    } catch {
      throw FeedError(
        .unreadable, "could not write to a temporary file", detail: error.sentence)
    }
  }

  /// Reads the bytes from an offset on; 0 at the end.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FeedError) -> Int {
    guard descriptor >= 0 else { return 0 }
    let count = pread(descriptor, buffer.baseAddress, buffer.count, offset)
    guard count >= 0 else {
      throw FeedError(
        .unreadable, "could not read the body from its temporary file",
        detail: SystemFailure(errno).sentence)
    }
    return count
  }
}
