import Glibc

/// A temporary file without a name: it goes when its descriptor is closed, however this process ends.
public enum UnnamedFile {
  /// Makes an empty one in `folder`, to be read and written; the caller closes it.
  ///
  /// - Returns: Its descriptor, which no other program that is started inherits.
  /// - Throws: `.unreadable` if there can be no file.
  public static func create(in folder: String = "/tmp") throws(FeedError) -> Int32 {
    var path = Array("\(folder)/quake-body-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else {
      throw FeedError(
        .unreadable, "could not create a temporary file in \"\(folder)\"",
        detail: SystemError.sentence(errno),
        hint: "The body of a feed is kept there while it is read.")
    }
    unlink(path)
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    return file
  }

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
