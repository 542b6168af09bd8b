internal import Basics

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
        detail: SystemError.sentence(error.code),
        hint: "The body of a feed is stored there while it is read. Set TMPDIR to another folder.")
    }
  }

  /// Writes all of `bytes` at the file's position.
  ///
  /// - Throws: `.unreadable` if they cannot be written.
  public static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(FeedError) {
    do throws(SystemFailure) {
      try UnnamedFile.write(bytes, to: file)
    } catch {
      throw FeedError(
        .unreadable, "could not write to a temporary file",
        detail: SystemError.sentence(error.code))
    }
  }
}
