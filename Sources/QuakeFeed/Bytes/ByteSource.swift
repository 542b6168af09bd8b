internal import Basics
import Glibc

/// A source of bytes: a file, a descriptor, an HTTP body, or another source decompressed.
///
/// The consumer pulls bytes; a source never calls back. A source has one owner, which uses it from one thread
/// at a time.
public protocol ByteSource {
  /// Reads at least one byte and at most `buffer.count`, and blocks if there are none yet; 0 at the end.
  /// `buffer` must not be empty.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int
}

extension ByteSource {
  /// Reads `most` bytes, or fewer at the end or before an error.
  func readBytes(atMost most: Int) -> (bytes: [UInt8], failure: FeedError?) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: most, alignment: 16)
    defer { buffer.deallocate() }
    var end = 0
    do throws(FeedError) {
      while end < most {
        let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
        guard count > 0 else { break }
        end += count
      }
      return (Array(buffer[..<end]), nil)
    } catch {
      return (Array(buffer[..<end]), error)
    }
  }
}

/// Reads a file.
public final class FileSource: FileDescriptorSource {
  /// The kind of file at a path.
  public enum Kind: Sendable {
    /// A regular file, which can be read repeatedly and without blocking.
    case regular
    /// A named pipe, whose reader waits for a writer.
    case pipe
    /// A socket or a device.
    case special
    /// A folder, or nothing.
    case other
  }

  /// The kind of file at a path.
  public static func kind(of path: String) -> Kind {
    var status = stat()
    return stat(path, &status) == 0 ? kind(status) : .other
  }

  private static func kind(_ status: stat) -> Kind {
    switch status.st_mode & S_IFMT {
    case S_IFREG: .regular
    case S_IFIFO: .pipe
    case S_IFSOCK, S_IFCHR, S_IFBLK: .special
    default: .other
    }
  }

  /// Opens the file; throws `.fileNotFound` or `.unreadable`.
  ///
  /// - Parameters:
  ///   - onlyRegular: Whether files that could block, such as named pipes, are refused.
  ///   - interrupt: Called while a named pipe has nothing to read.
  public init(
    path: String, onlyRegular: Bool = false, interrupt: (() -> Bool)? = nil
  ) throws(FeedError) {
    let name = "file \"\(path)\""
    // Without O_NONBLOCK, opening a named pipe would wait for a writer, and could not be interrupted.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let failure = errno
      throw FeedError(
        failure == ENOENT || failure == ENOTDIR ? .fileNotFound : .unreadable,
        "could not open \(name)", detail: SystemFailure(failure).sentence)
    }
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? Self.kind(status) : .regular
    // A folder can be opened like a file; only the first read would fail.
    guard kind != .other else {
      close(descriptor)
      throw FeedError(
        .unreadable, "could not open \(name)", detail: SystemFailure(EISDIR).sentence)
    }
    guard kind == .regular || !onlyRegular else {
      close(descriptor)
      throw FeedError(
        .unreadable, "\(name) is not a regular file",
        detail: "It is a named pipe, a socket or a device, and reading it could block.",
        hint: "\"quake-ingest import\" reads such files.")
    }
    super.init(
      descriptor: descriptor, closes: true, name: name,
      interrupt: kind == .regular ? interrupt : interrupt ?? { false })
  }
}

/// Reads from an open descriptor: a pipe, a socket, a terminal, a file.
public class FileDescriptorSource: ByteSource {
  private let descriptor: Int32
  private let closes: Bool
  private let name: String
  private let interrupt: (() -> Bool)?
  private var ended = false

  /// A source that reads `descriptor`, and closes it at its deinitialisation if `closes` is true.
  ///
  /// - Parameters:
  ///   - name: The name for errors, such as `standard input`.
  ///   - interrupt: Called at least every 250 ms while there is nothing to read; if it returns true, the read
  ///     throws `FeedError.Code.interrupted`.
  public init(
    descriptor: Int32, closes: Bool = false, name: String, interrupt: (() -> Bool)? = nil
  ) {
    self.descriptor = descriptor
    self.closes = closes
    self.name = name
    self.interrupt = interrupt
  }

  /// A source that reads standard input.
  public static func standardInput(interrupt: (() -> Bool)? = nil) -> FileDescriptorSource {
    FileDescriptorSource(descriptor: 0, name: "standard input", interrupt: interrupt)
  }

  deinit {
    if closes { close(descriptor) }
  }

  /// The number of bytes from here to the end of a regular file; nil for pipes, sockets and devices.
  var remaining: Int64? {
    var status = stat()
    let position = lseek(descriptor, 0, SEEK_CUR)
    guard position >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    return Int64(status.st_size) - Int64(position)
  }

  /// Reads the available bytes; waits if there are none. The end stays the end: a terminal would wait for
  /// another Ctrl-D if it were read again.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    if ended { return 0 }
    while true {
      try waitUntilReadable()
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 {
        ended = count == 0
        return count
      }
      let failure = errno
      if failure == EINTR || failure == EAGAIN { continue }
      throw FeedError(
        .unreadable, "could not read \(name)", detail: SystemFailure(failure).sentence)
    }
  }

  /// Waits in slices to call the hook: a plain read would not end if the signal's handler is installed with
  /// SA_RESTART, or another thread handles the signal.
  private func waitUntilReadable() throws(FeedError) {
    guard let interrupt else { return }
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var pause: Int32 = 0
    while Glibc.poll(&poll, 1, pause) <= 0 {
      if interrupt() { throw FeedError(.interrupted, "interrupted while reading \(name)") }
      pause = 250
    }
  }
}

/// A source of some bytes followed by another source: it returns the bytes that were read to recognise the
/// format.
final class PrefixedSource: ByteSource {
  private var prefix: [UInt8]
  private let source: any ByteSource

  init(prefix: [UInt8], source: any ByteSource) {
    self.prefix = prefix
    self.source = source
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    guard !prefix.isEmpty else { return try source.read(into: buffer) }
    let count = min(prefix.count, buffer.count)
    buffer.copyBytes(from: prefix.prefix(count))
    prefix.removeFirst(count)
    return count
  }
}

/// Another source's bytes, up to a limit.
final class LimitedSource: ByteSource {
  private let source: any ByteSource
  private let name: String
  private let limit: Int
  /// The number of bytes read so far.
  private(set) var count = 0

  /// - Parameter limit: The most bytes; more are an error. Nil for no limit.
  init(_ source: any ByteSource, name: String, limit: Int?) {
    self.source = source
    self.name = name
    self.limit = limit ?? .max
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let read = try source.read(into: buffer)
    count += read
    guard count <= limit else { throw FeedError.bodyTooLarge(name, limit: limit) }
    return read
  }
}

/// Another source's bytes, counted: how far its consumer has come in the whole.
public final class MeasuredSource: ByteSource {
  private let source: any ByteSource
  private let size: Int64?
  private var count: Int64 = 0

  /// - Parameter size: The number of bytes of the whole source; nil if unknown.
  init(_ source: any ByteSource, size: Int64?) {
    self.source = source
    self.size = size.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Reads the next bytes; 0 at the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let read = try source.read(into: buffer)
    count += Int64(read)
    return read
  }

  /// The part that has been read, 0 to 1; nil if the size is unknown.
  public var share: Double? { size.map { min(1, Double(count) / Double($0)) } }
}

extension FileDescriptorSource {
  /// The bytes that follow, counted.
  public var measured: MeasuredSource { MeasuredSource(self, size: remaining) }
}
