import Glibc

/// A temporary file without a name: it goes when its descriptor is closed, however this process ends.
public enum UnnamedFile {
  /// Makes an empty one in `folder`, to be read and written; the caller closes it.
  ///
  /// - Returns: Its descriptor, which no other program that is started inherits.
  /// - Throws: `.unreadable` if there can be no file.
  public static func create(in folder: String) throws(FeedError) -> Int32 {
    // It never has a name; with O_EXCL nobody can give it one.
    let file = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 { return file }
    // Not every file system can do that. The name must not be there, nor can anybody guess it.
    let path = "\(folder)/quake-body-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    let named = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard named >= 0 else {
      throw FeedError(
        .unreadable, "could not create a temporary file in \"\(folder)\"",
        detail: SystemError.sentence(errno),
        hint: "The body of a feed is kept there while it is read. TMPDIR names another folder.")
    }
    unlink(path)
    return named
  }

  /// `O_TMPFILE`, which is a macro of two others in C.
  private static let O_TMPFILE = Int32(0o20_000_000) | O_DIRECTORY

  /// Writes all of `bytes` at the file's position.
  ///
  /// - Throws: `.unreadable` if they cannot be written.
  public static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(FeedError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(file, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw FeedError(
          .unreadable, "could not write to a temporary file",
          detail: SystemError.sentence(errno))
      }
    }
  }
}
