import Glibc

/// Reads a file.
public final class FileSource: ByteSource {
  private let source: FileDescriptorSource

  /// Opens the file; throws `.fileNotFound` or `.unreadable`.
  ///
  /// - Parameter interrupt: asked while there is nothing to read, should it be a named pipe.
  public init(path: String, interrupt: (() -> Bool)? = nil) throws(FeedError) {
    let name = "file \"\(path)\""
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let failure = errno
      throw FeedError(
        failure == ENOENT || failure == ENOTDIR ? .fileNotFound : .unreadable,
        "could not open \(name)", detail: SystemError.sentence(failure))
    }
    // A directory opens like a file and fails at the first read only.
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      close(descriptor)
      throw FeedError(
        .unreadable, "could not open \(name)", detail: SystemError.sentence(EISDIR))
    }
    source = FileDescriptorSource(
      descriptor: descriptor, closes: true, name: name, interrupt: interrupt)
  }

  /// Reads on; 0 at the file's end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    try source.read(into: buffer)
  }
}
