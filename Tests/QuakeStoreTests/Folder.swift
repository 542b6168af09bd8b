import Glibc
import Testing

/// The folder `migrations` of the sources that the tests were built from.
enum Folder {
  struct Failure: Error {
    var path: String
    var code: Int32
  }

  static var path: String {
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/") + "/migrations"
  }

  /// The migrations, in order.
  static func migrations() throws -> [(name: String, bytes: [UInt8])] {
    guard let folder = opendir(path) else { throw Failure(path: path, code: errno) }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".sql"), name != "schema.sql" { names.append(name) }
    }
    return try names.sorted().map { ($0, try read($0)) }
  }

  static func read(_ name: String) throws -> [UInt8] {
    guard let file = fopen("\(path)/\(name)", "rb") else {
      throw Failure(path: name, code: errno)
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&block, 1, block.count, file)
      guard count > 0 else { return bytes }
      bytes += block[..<count]
    }
  }

  static func write(_ text: String, to name: String) throws {
    guard let file = fopen("\(path)/\(name)", "wb") else {
      throw Failure(path: name, code: errno)
    }
    defer { fclose(file) }
    let bytes = Array(text.utf8)
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
      throw Failure(path: name, code: errno)
    }
  }
}
