import Glibc

/// Writes to a file descriptor until all is written.
enum Descriptor {
  /// Returns nil when everything has been written.
  static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> OutputError? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = Glibc.write(
        descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
        continue
      }
      switch errno {
      case EINTR: continue
      case EPIPE: return .closed
      case EAGAIN:
        // Another program that shares standard output may have made it non-blocking.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&waiting, 1, -1)
      default: return .failed(code: errno)
      }
    }
    return nil
  }

  static func writeAll(_ text: String, to descriptor: Int32) -> OutputError? {
    var text = text
    return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
  }
}
