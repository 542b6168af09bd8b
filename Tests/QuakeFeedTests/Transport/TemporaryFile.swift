import Glibc
import Testing

@testable import QuakeFeed

/// Temporary files.
enum TemporaryFile {
  /// The path of a new file with these contents.
  static func path(_ contents: [UInt8] = []) throws -> String {
    var template = Array("/tmp/quake-feed-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try #require(write(descriptor, contents, contents.count) == contents.count)
    return template.withUnsafeBufferPointer { text in
      text.baseAddress.map { String(cString: $0) } ?? ""
    }
  }

  static func remove(_ path: String) {
    unlink(path)
  }

  static func contents(_ path: String) throws -> [UInt8] {
    let source = try FileSource(path: path)
    var bytes: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      let count = try source.read(into: buffer)
      if count == 0 { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
  }
}
