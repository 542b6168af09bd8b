internal import Glibc

/// A temporary file without a name. The system deletes it when its last descriptor is closed, also if the
/// process is killed.
public enum UnnamedFile {
  /// Creates an empty file in `folder` for reading and writing. The caller closes it.
  ///
  /// - Parameter name: The beginning of the name that the file has for a moment on some file systems.
  /// - Returns: Its descriptor, which is close-on-exec.
  public static func create(in folder: String, named name: String) throws(SystemFailure) -> Int32 {
    // The file never has a name, and O_EXCL prevents giving it one.
    let file = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 { return file }
    // Not every file system supports that. The fallback creates a file with a name that other users cannot
    // guess.
    let path = "\(folder)/\(name)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    let named = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard named >= 0 else { throw SystemFailure(errno) }
    unlink(path)
    return named
  }

  /// `O_TMPFILE`, which is a macro of two others in C.
  private static let O_TMPFILE = Int32(0o20_000_000) | O_DIRECTORY

  /// Writes all of `bytes` at the file's position.
  public static func write(
    _ bytes: UnsafeRawBufferPointer, to file: Int32
  ) throws(SystemFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(file, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw SystemFailure(errno)
      }
    }
  }
}
