internal import Postgres
public import QuakeModel

/// One step of the schema: a file `NNNN_name.sql`.
public struct Migration: Sendable {
  /// The number, from 1.
  public let version: Int
  /// The name, without number and ending.
  public let name: String
  /// The file's name.
  public let file: String
  /// The statements.
  let sql: SQL

  /// Reads number and name from a file's name.
  ///
  /// - Throws: `StoreError` of kind `schema` if the name is not of the form `NNNN_name.sql` or the
  ///   text is not UTF-8.
  public init(file: String, contents: [UInt8]) throws(StoreError) {
    let digits = file.prefix(4)
    guard digits.utf8.count == 4, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let version = Int(digits), version > 0, file.dropFirst(4).hasPrefix("_"),
      file.hasSuffix(".sql"), file.utf8.count > 9
    else {
      throw StoreError(
        .schema, "migration file \"\(file)\" is not named NNNN_name.sql",
        hint: "Number migrations from 0001 on, such as 0003_watcher.sql.")
    }
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw StoreError(.schema, "migration file \"\(file)\" is not UTF-8")
    }
    self.version = version
    self.name = String(file.dropFirst(5).dropLast(4))
    self.file = file
    self.sql = SQL(trusted: text)
  }

  /// Number and name for messages: `0003_history`.
  var label: String { String(file.dropLast(4)) }
}
