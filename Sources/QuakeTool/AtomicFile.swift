internal import Glibc

/// A file that is replaced as a whole: a crash leaves either the old contents or the new, and a reader
/// sees nothing in between.
public struct AtomicFile {
  /// Where it is.
  public let path: String

  /// A file at a path; it need not be there.
  public init(_ path: String) {
    self.path = path
  }

  /// Why the system refused.
  public struct SystemError: Error, CustomStringConvertible {
    let code: Int32
    /// In the system's words.
    public var description: String { String(cString: strerror(code)) }
  }

  /// Puts new contents in the place of the old.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    // Two processes that write at the same moment each have a file of their own.
    let temporary = "\(path).\(getpid()).new"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw SystemError(code: errno) }
    var code: Int32 = 0
    if !Self.writeAll(bytes, to: descriptor) || fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0, rename(temporary, path) != 0 { code = errno }
    guard code == 0 else {
      unlink(temporary)
      throw SystemError(code: code)
    }
    syncFolder()
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
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
