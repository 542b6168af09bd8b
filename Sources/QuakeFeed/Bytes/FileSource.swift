import Glibc

/// Reads a file.
public final class FileSource: ByteSource {
  private let source: FileDescriptorSource

  /// What a path leads to.
  public enum Kind: Sendable {
    /// A file of bytes, which can be read again, and is read without waiting.
    case regular
    /// A named pipe: who reads it waits for those who write.
    case pipe
    /// A socket or a device.
    case special
    /// A folder, or nothing.
    case other
  }

  /// What a path leads to.
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
  ///   - onlyRegular: whether anything that would have to be waited for, such as a named pipe, is refused.
  ///   - interrupt: asked while there is nothing to read, should it be a named pipe.
  public init(
    path: String, onlyRegular: Bool = false, interrupt: (() -> Bool)? = nil
  ) throws(FeedError) {
    let name = "file \"\(path)\""
    // Opening a named pipe would otherwise wait for somebody who writes, and nothing could end that.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let failure = errno
      throw FeedError(
        failure == ENOENT || failure == ENOTDIR ? .fileNotFound : .unreadable,
        "could not open \(name)", detail: SystemError.sentence(failure))
    }
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? Self.kind(status) : .regular
    // A directory opens like a file and fails at the first read only.
    guard kind != .other else {
      close(descriptor)
      throw FeedError(
        .unreadable, "could not open \(name)", detail: SystemError.sentence(EISDIR))
    }
    guard kind == .regular || !onlyRegular else {
      close(descriptor)
      throw FeedError(
        .unreadable, "\(name) is not a regular file",
        detail: "It is a named pipe, a socket or a device, which could keep its reader waiting.",
        hint: "\"quake-ingest import\" reads such files.")
    }
    source = FileDescriptorSource(
      descriptor: descriptor, closes: true, name: name,
      interrupt: kind == .regular ? interrupt : interrupt ?? { false })
  }

  /// Reads on; 0 at the file's end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    try source.read(into: buffer)
  }
}
