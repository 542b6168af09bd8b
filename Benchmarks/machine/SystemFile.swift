import Glibc

/// Reads files of /proc, which report no size.
enum SystemFile {
  /// The contents, or nil if there is no such file.
  static func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        bytes.append(contentsOf: buffer.prefix(count))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
