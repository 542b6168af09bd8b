import Basics
import Glibc

/// An unnamed file of the server, which its last user closes.
final class TemporaryFile: Sendable {
  let descriptor: Int32

  /// Creates an empty file.
  ///
  /// - Throws: `HTTPError` 503 if it cannot be created.
  init() throws(HTTPError) {
    do throws(SystemFailure) {
      descriptor = try UnnamedFile.create(in: Self.folder, named: "quake-serve")
    } catch {
      throw Self.error(error.code)
    }
  }

  deinit {
    close(descriptor)
  }

  /// The folder of temporary files. `/tmp` is memory on some systems, which these files are to save.
  private static let folder = "/var/tmp"

  private static func error(_ code: Int32) -> HTTPError {
    HTTPError(
      503, "The server could not store the answer: \(String(cString: strerror(code))).",
      ["Retry-After": "10"])
  }

  /// Appends bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) {
    do throws(SystemFailure) {
      try UnnamedFile.write(bytes, to: descriptor)
    } catch {
      throw Self.error(error.code)
    }
  }

  /// Overwrites bytes.
  func write(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(HTTPError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, position + done)
      if count > 0 {
        done += count
      } else if errno != EINTR {
        throw Self.error(errno)
      }
    }
  }

  /// Hands over the first `size` bytes in parts.
  func withParts(upTo size: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let part = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { part.deallocate() }
    var position = 0
    while position < size {
      let count = pread(descriptor, part.baseAddress, min(part.count, size - position), position)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.error(count < 0 ? errno : EIO) }
      try body(UnsafeRawBufferPointer(rebasing: part[..<count]))
      position += count
    }
  }
}
