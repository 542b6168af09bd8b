import QuakeHistory
import QuakeModel
import QuakeTool

/// What a named watcher remembers outside of the database: how far it has come, and which transactions it has
/// delivered last. A restore or a failover that lost transactions takes the database's cursor back, and not this.
struct Witness: Equatable {
  var cursor: HistoryCursor
  /// When the cursor in the database was created: a cursor that was removed and created again is another one, and
  /// so is one of that name in another database. A restored database has the same one.
  var created: Timestamp
  /// The last transactions of which the watcher has delivered changes, oldest first.
  var delivered: [ChangeToken]
}

/// The file that holds the witness of one named watcher, as lines of text: the cursor as in a state file, the name,
/// when the cursor was created, and the tokens of the last transactions.
struct WitnessFile {
  let path: String
  private let name: String

  /// The file for the watcher of that name.
  init(_ path: String, of name: String) {
    self.path = path
    self.name = name
  }

  /// The longest file that is read: a name has up to 200 characters, a token up to 28 bytes.
  private static let longest = 16 << 10
  private static let watcher = "watcher "
  private static let created = "created "
  private static let delivered = "delivered"

  /// The witness; nil if there is no file.
  func load() throws -> Witness? {
    let bytes: [UInt8]?
    do throws(AtomicFile.ReadingError) {
      bytes = try AtomicFile(path).read(atMost: Self.longest)
    } catch {
      throw FileError(
        "could not read witness \"\(path)\": \(error)", detail: "--state names another file.")
    }
    guard let bytes else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 5, lines[4].isEmpty, let cursor = HistoryCursor(String(lines[0])),
      let owner = Self.rest(of: lines[1], after: Self.watcher),
      let created = Self.rest(of: lines[2], after: Self.created).flatMap({ Int64($0) }),
      let delivered = Self.rest(of: lines[3], after: Self.delivered).flatMap(Self.tokens)
    else {
      throw StoreError(
        .badData, "file \"\(path)\" is not a witness, or is damaged",
        hint: """
          If it is the witness of this watcher, remove it: the watcher then continues after its cursor in the \
          database, and with --url it begins anew. If it is another file, name another one with --state.
          """)
    }
    guard owner == Self.line(name) else {
      throw StoreError(
        .badData, "file \"\(path)\" is the witness of watcher \"\(owner)\"",
        hint: "Name another file with --state: each watcher needs its own.")
    }
    return Witness(
      cursor: cursor, created: Timestamp(microseconds: created), delivered: delivered)
  }

  /// Replaces the file.
  func save(_ witness: Witness) throws {
    let tokens = witness.delivered.map { " \($0)" }.joined()
    let text = """
      \(witness.cursor)
      \(Self.watcher)\(Self.line(name))
      \(Self.created)\(witness.created.microseconds)
      \(Self.delivered)\(tokens)

      """
    do throws(AtomicFile.SystemError) {
      try AtomicFile(path).write(Array(text.utf8))
    } catch {
      throw FileError(
        "could not write witness \"\(path)\": \(error)", detail: "--state names another file.")
    }
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
  private static func line(_ name: String) -> String {
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
