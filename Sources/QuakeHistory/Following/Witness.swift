package import QuakeModel

/// What a named watcher remembers outside of the database: how far it has come, and which transactions it has
/// delivered last. A restore or a failover that lost transactions takes the database's cursor back, and not this.
package struct Witness: Equatable, Sendable {
  package var cursor: HistoryCursor
  /// When the cursor in the database was created: a cursor that was removed and created again is another one, and
  /// so is one of that name in another database. A restored database has the same one.
  package var created: Timestamp
  /// The last transactions of which the watcher has delivered changes, oldest first.
  package var delivered: [ChangeToken]

  package init(cursor: HistoryCursor, created: Timestamp, delivered: [ChangeToken]) {
    self.cursor = cursor
    self.created = created
    self.delivered = delivered
  }
}

/// A witness and whose it is, as lines of text: the cursor as in a state file, the name, when the cursor was created, and
/// the tokens of the last transactions.
package struct WitnessText: Equatable, Sendable, CustomStringConvertible {
  package var witness: Witness
  /// The name of the watcher as `line` writes it.
  package var watcher: String

  private static let watcherBegin = "watcher "
  private static let createdBegin = "created "
  private static let deliveredBegin = "delivered"

  /// The text for the witness of the watcher of that name.
  package init(_ witness: Witness, of name: String) {
    self.witness = witness
    watcher = Self.line(name)
  }

  /// Reads the bytes of a file; nil if they are not such a text.
  package init?(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 5, lines[4].isEmpty, let cursor = HistoryCursor(String(lines[0])),
      let watcher = Self.rest(of: lines[1], after: Self.watcherBegin),
      let created = Self.rest(of: lines[2], after: Self.createdBegin).flatMap({ Int64($0) }),
      let delivered = Self.rest(of: lines[3], after: Self.deliveredBegin).flatMap(Self.tokens)
    else { return nil }
    witness = Witness(
      cursor: cursor, created: Timestamp(microseconds: created), delivered: delivered)
    self.watcher = String(watcher)
  }

  package var description: String {
    let tokens = witness.delivered.map { " \($0)" }.joined()
    return """
      \(witness.cursor)
      \(Self.watcherBegin)\(watcher)
      \(Self.createdBegin)\(witness.created.microseconds)
      \(Self.deliveredBegin)\(tokens)

      """
  }

  private static func rest(of line: Substring, after beginning: String) -> Substring? {
    line.hasPrefix(beginning) ? line.dropFirst(beginning.count) : nil
  }

  private static func tokens(_ text: Substring) -> [ChangeToken]? {
    let words = text.split(separator: " ")
    let tokens = words.compactMap { ChangeToken(String($0)) }
    return tokens.count == words.count ? tokens : nil
  }

  /// A name as plain ASCII on one line, in which no two names are the same.
  package static func line(_ name: String) -> String {
    var line = ""
    for byte in name.utf8 {
      if (0x20..<0x7F).contains(byte), byte != UInt8(ascii: "%") {
        line.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        line += "%" + String(Int(byte) + 0x100, radix: 16).dropFirst()
      }
    }
    return line
  }
}
