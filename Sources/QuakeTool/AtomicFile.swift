internal import Glibc

/// A file that is replaced as a whole: a crash leaves either the old contents or the new, and a reader
/// sees nothing in between.
///
/// The new contents are written beside it, into a file of a name that nobody can guess and that must
/// not be there: others may be allowed to write into the folder, too. What stands at the path itself
/// is replaced and never followed, be it a symbolic link.
public struct AtomicFile {
  /// Where it is.
  public let path: String

  /// A file at a path; it need not be there.
  public init(_ path: String) {
    self.path = path
  }

  /// Why it cannot be written.
  public enum SystemError: Error, CustomStringConvertible {
    /// The system refused, with this error number.
    case refused(Int32)
    /// A pipe, a device or a folder is there, which a file must not take the place of.
    case notAFile

    /// In a few words.
    public var description: String {
      switch self {
      case .refused(let code): String(cString: strerror(code))
      case .notAFile: "what is there is not a regular file"
      }
    }
  }

  /// Puts new contents in the place of the old.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    var there = stat()
    if stat(path, &there) == 0, there.st_mode & S_IFMT != S_IFREG { throw .notAFile }
    let (temporary, descriptor) = try makeTemporary()
    var code: Int32 = 0
    if !Self.writeAll(bytes, to: descriptor) || fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0, rename(temporary, path) != 0 { code = errno }
    guard code == 0 else {
      unlink(temporary)
      throw .refused(code)
    }
    syncFolder()
  }

  /// Who may read it is the caller's own affair, hence umask's.
  private func makeTemporary() throws(SystemError) -> (path: String, descriptor: Int32) {
    for _ in 0..<10 {
      let temporary = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).new"
      let descriptor = open(
        temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      if descriptor >= 0 { return (temporary, descriptor) }
      guard errno == EEXIST else { throw .refused(errno) }
    }
    throw .refused(EEXIST)
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written >= 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return true
  }

  /// Without this a power failure may bring the old contents back.
  private func syncFolder() {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }
}

extension AtomicFile {
  /// Why the contents cannot be had.
  public enum ReadingError: Error, CustomStringConvertible {
    /// The system refused, with this error number.
    case refused(Int32)
    /// A pipe, a device or a folder is there.
    case notAFile
    /// Anybody may put a file into the folder, and somebody else has.
    case foreign

    /// In a few words.
    public var description: String {
      switch self {
      case .refused(let code): String(cString: strerror(code))
      case .notAFile: "what is there is not a regular file"
      case .foreign: "another user has put it into a folder that is open to everybody"
      }
    }
  }

  /// The beginning of its contents; nil if there is no file. It never waits.
  public func read(atMost count: Int) throws(ReadingError) -> [UInt8]? {
    // A named pipe would be waited for.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .refused(errno)
    }
    defer { close(descriptor) }
    var file = stat()
    guard fstat(descriptor, &file) == 0 else { throw .refused(errno) }
    guard file.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    try checkOwner(of: file)
    var bytes = [UInt8](repeating: 0, count: count)
    var length = 0
    while length < count {
      let read = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress.map { $0 + length }, count - length)
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw .refused(errno) }
      if read == 0 { break }
      length += read
    }
    return Array(bytes[..<length])
  }

  /// In a folder such as `/tmp` a file, or a link to one, may be a trap. As the kernel does for links
  /// there, only those of the reader, of root and of the folder's owner are trusted.
  private func checkOwner(of file: stat) throws(ReadingError) {
    var around = stat()
    guard stat(folder, &around) == 0, around.st_mode & S_ISVTX != 0,
      around.st_mode & S_IWOTH != 0
    else { return }
    var link = stat()
    guard lstat(path, &link) == 0 else { throw .refused(errno) }
    let trusted = [geteuid(), 0, around.st_uid]
    guard trusted.contains(file.st_uid), trusted.contains(link.st_uid) else { throw .foreign }
  }
}
