import Glibc

/// Reads a file.
public final class FileSource: ByteSource {
  private let source: FileDescriptorSource
  /// The size of a regular file in bytes; nil for others.
  let size: Int64?

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
        "could not open \(name)", detail: SystemError.sentence(failure))
    }
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? Self.kind(status) : .regular
    // A folder can be opened like a file; only the first read would fail.
    guard kind != .other else {
      close(descriptor)
      throw FeedError(
        .unreadable, "could not open \(name)", detail: SystemError.sentence(EISDIR))
    }
    guard kind == .regular || !onlyRegular else {
      close(descriptor)
      throw FeedError(
        .unreadable, "\(name) is not a regular file",
        detail: "It is a named pipe, a socket or a device, and reading it could block.",
        hint: "\"quake-ingest import\" reads such files.")
    }
    size = kind == .regular ? Int64(status.st_size) : nil
    source = FileDescriptorSource(
      descriptor: descriptor, closes: true, name: name,
      interrupt: kind == .regular ? interrupt : interrupt ?? { false })
  }

  /// Reads the next bytes; 0 at the file's end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    try source.read(into: buffer)
  }
}
