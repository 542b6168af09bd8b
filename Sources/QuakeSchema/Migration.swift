internal import CMigrations
internal import Postgres
package import QuakeModel

/// One step of the schema: a file `NNNN_name.sql`.
package struct Migration: Sendable {
  /// The number, from 1.
  package let version: Int
  /// The name, without number and ending.
  package let name: String
  package let file: String
  /// The oldest schema whose programs may go on after it; nil: only programs that know it may.
  package let oldestSchema: Int?
  /// Whether it is one statement that is repeated, each time in a transaction of its own. `$1` is the key that the
  /// statement returned the time before, null the first time. It returns the next key, null at the end, and the number
  /// of rows that it has changed.
  package let isInBatches: Bool
  let sql: SQL
  /// The SHA-256 of the file, hexadecimal; nil if it is not known.
  let sha256: String?

  /// Reads number and name from a file's name, and from its first lines `-- oldest schema: N` and `-- in batches`.
  ///
  /// - Parameter sha256: The SHA-256 of the contents, if it is known.
  /// - Throws: `StoreError` of kind `schema` if the name is not of the form `NNNN_name.sql`, the text is not UTF-8, or
  ///   one of these lines is wrong.
  package init(file: String, contents: [UInt8], sha256: String? = nil) throws(StoreError) {
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
    var (oldest, isInBatches): (Int?, Bool) = (nil, false)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("--") else { break }
      let words = line.split(separator: " ").dropFirst()
      if words.starts(with: ["in", "batches"]), words.count == 2 {
        isInBatches = true
      } else if words.starts(with: ["oldest", "schema:"]), words.count == 3,
        let number = words.last.flatMap({ Int($0) }), (1..<version).contains(number)
      {
        oldest = number
      } else if words.starts(with: ["in", "batch"], by: { $0.hasPrefix($1) })
        || words.first?.hasPrefix("oldest") == true
      {
        throw StoreError(
          .schema, "migration file \"\(file)\" has the wrong line \"\(line)\"",
          hint: "Write \"-- oldest schema: N\", N less than \(version), or \"-- in batches\".")
      }
    }
    self.oldestSchema = oldest
    self.isInBatches = isInBatches
    self.version = version
    self.name = String(file.dropFirst(5).dropLast(4))
    self.file = file
    self.sql = SQL(trusted: text)
    self.sha256 = sha256
  }

  /// Number and name for messages: `0003_history`.
  var label: String { String(file.dropLast(4)) }
}

/// The migrations as the binaries carry them, in order. A test compares them with the folder.
enum EmbeddedMigrations {
  /// How many there are, without copying them.
  static let count: Int = {
    var count = 0
    while quake_migration(count) != nil { count += 1 }
    return count
  }()

  /// A migration's file name and its bytes. They are copied each time: a program that goes on does not need them again.
  static var files: [(name: String, bytes: [UInt8])] {
    var files: [(name: String, bytes: [UInt8])] = []
    while let file = quake_migration(files.count)?.pointee {
      files.append(
        (
          String(cString: file.name),
          Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
        ))
    }
    return files
  }

  /// The SHA-256 of the released ones, by the names of their files.
  static var checksums: [Substring: Substring] {
    let released = quake_released_migrations
    let text = String(
      decoding: UnsafeBufferPointer(start: released.bytes, count: released.size), as: UTF8.self)
    var checksums: [Substring: Substring] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      if words.count == 2 { checksums[words[1]] = words[0] }
    }
    return checksums
  }
}
