internal import Basics
import Compression
import Glibc

/// A source that also writes the bytes to an unnamed file, so that a body can be read as a stream, and
/// afterwards as a whole, without more memory. It can also read a body that is already in such a file.
///
/// It has one owner, which uses it from one thread at a time.
public final class BodySpool: ByteSource {
  /// The source to read from; nil if the whole body is in the file.
  private let source: (any ByteSource)?
  private let file: Int32
  /// The number of bytes read from the file.
  private var position: off_t = 0
  /// The error to throw at the end of the body, if any.
  private let end: FeedError?
  private var isAtEnd = false
  /// The first error of the file. Reading continues after it, but the body is not kept.
  private var failure: FeedError?

  /// The most bytes that are kept; no feed has more.
  static let limit = 256 << 20
  private static let partBytes = 256 << 10

  /// Reads from `source`, and keeps the bytes in a file in `folder`.
  ///
  /// - Throws: `.unreadable` if the file cannot be created.
  public init(_ source: any ByteSource, in folder: String) throws(FeedError) {
    self.source = source
    end = nil
    file = try BodyFile.create(in: folder)
  }

  /// A body that is already in a file, as it was received.
  ///
  /// - Parameters:
  ///   - file: Its descriptor, which is closed at deinitialisation.
  ///   - end: The error at the end of the body; nil if it is complete.
  init(keeping file: Int32, end: FeedError?) {
    source = nil
    self.end = end
    self.file = file
  }

  deinit { close(file) }

  /// Reads the next bytes; 0 at the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    guard let source else { return try readKept(into: buffer) }
    let count = try source.read(into: buffer)
    if count == 0 {
      isAtEnd = true
    } else {
      keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return count
  }

  private func readKept(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let count = pread(file, buffer.baseAddress, buffer.count, position)
    guard count >= 0 else { throw Self.unreadable() }
    position += off_t(count)
    if count == 0, let end { throw end }
    return count
  }

  private static func unreadable() -> FeedError {
    FeedError(
      .unreadable, "could not read the body from its temporary file",
      detail: SystemFailure(errno).sentence)
  }

  /// Passes the whole body, including its unread part, to `body` as the parts of a gzip file.
  ///
  /// If the source fails, the result ends there.
  public func withCompressedParts(
    _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    readToEnd()
    if let failure { throw failure }
    let compressor = isCompressed ? nil : GzipCompressor()
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.partBytes, alignment: 16)
    defer { input.deallocate() }
    var offset: off_t = 0
    while true {
      let count = pread(file, input.baseAddress, input.count, offset)
      guard count >= 0 else { throw Self.unreadable() }
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
    while source != nil, !isAtEnd, failure == nil {
      do throws(FeedError) {
        _ = try read(into: buffer)
      } catch {
        isAtEnd = true
      }
    }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) {
    guard failure == nil else { return }
    guard Int(lseek(file, 0, SEEK_CUR)) + bytes.count <= Self.limit else {
      failure = FeedError(
        .unreadable, "the body is longer than the limit of \(Self.limit >> 20) MiB")
      return
    }
    do throws(FeedError) {
      try BodyFile.write(bytes, to: file)
    } catch {
      failure = error
    }
  }
}

/// The unnamed file in which the body of a feed is stored while it is read.
public enum BodyFile {
  /// Creates an empty file in `folder` for reading and writing. The caller closes it.
  ///
  /// - Returns: Its descriptor, which is close-on-exec.
  /// - Throws: `.unreadable` if the file cannot be created.
  public static func create(in folder: String) throws(FeedError) -> Int32 {
    do throws(SystemFailure) {
      return try UnnamedFile.create(in: folder, named: "quake-body")
    } catch {
      throw FeedError(
        .unreadable, "could not create a temporary file in \"\(folder)\"",
        detail: error.sentence,
        hint: "The body of a feed is stored there while it is read. Set TMPDIR to another folder.")
    }
  }

  /// Writes all of `bytes` at the file's position.
  ///
  /// - Throws: `.unreadable` if they cannot be written.
  public static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(FeedError) {
    do throws(SystemFailure) {
      try SystemCalls.write(bytes, to: file)
    } catch {
      throw FeedError(
        .unreadable, "could not write to a temporary file",
        detail: error.sentence)
    }
  }
}

/// Stores the body of a download, as it is received, in an unnamed file. The file is created with the first
/// byte, because most polls have no body.
final class DownloadSpool {
  private let folder: String
  private let limit: Int
  private(set) var count = 0
  private var file: Int32 = -1
  private(set) var failure: FeedError?

  /// - Parameters:
  ///   - folder: The folder of the file.
  ///   - limit: The most bytes; more is an error.
  init(in folder: String, limit: Int) {
    self.folder = folder
    self.limit = limit
  }

  deinit { if file >= 0 { close(file) } }

  /// Appends bytes; false on an error.
  func append(_ bytes: UnsafeRawBufferPointer, of name: String) -> Bool {
    do throws(FeedError) {
      guard count + bytes.count <= limit else { throw .bodyTooLarge("\"\(name)\"", limit: limit) }
      try open()
      try BodyFile.write(bytes, to: file)
      count += bytes.count
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func open() throws(FeedError) {
    if file < 0 { file = try BodyFile.create(in: folder) }
  }

  /// Passes the descriptor to the caller, which closes it.
  func release() throws(FeedError) -> Int32 {
    try open()
    defer { file = -1 }
    return file
  }
}
