import Foundation
import TestSupport

/// The folder `migrations` of the sources that the tests were built from.
enum Folder {
  static let path = Tools.package + "/migrations"

  /// The migrations, in order.
  static func migrations() throws -> [(name: String, bytes: [UInt8])] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      .filter { $0.hasSuffix(".sql") && $0 != "schema.sql" }.map { ($0, try Array(read($0).utf8)) }
  }

  static func read(_ name: String) throws -> String {
    try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
  }

  static func write(_ text: String, to name: String) throws {
    try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
  }
}
