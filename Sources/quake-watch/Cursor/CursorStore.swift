import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// Where a watcher's cursor is stored for the next one.
protocol CursorStore {
  /// The stored cursor; nil if there is none yet.
  func load() throws -> HistoryCursor?
  /// Stores the cursor that the watcher begins at.
  func begin(at cursor: HistoryCursor) throws
  /// Writes a loaded cursor again to its file: one that cannot be written is an error before anything is handed over.
  func confirm(_ cursor: HistoryCursor) throws
  /// Stores a cursor. Everything up to there must have been handed over.
  func save(_ cursor: HistoryCursor) throws
  /// Completes what was stored, before the watcher waits or ends.
  func writePending() throws
  /// Records that the watcher is alive although its cursor has not moved.
  func touch() throws
  /// The transactions that the watcher has delivered, as far as it remembers them.
  var delivered: DeliveredTransactions { get }
  /// The ways on if the stored cursor is not in this history.
  var advice: String? { get }
}

extension CursorStore {
  func begin(at cursor: HistoryCursor) throws { try save(cursor) }
  func confirm(_ cursor: HistoryCursor) throws { try save(cursor) }
  func writePending() throws {}
  func touch() throws {}
  var advice: String? { nil }
}

struct NoCursor: CursorStore {
  let delivered = DeliveredTransactions()

  func load() -> HistoryCursor? { nil }
  func save(_ cursor: HistoryCursor) {}
}

/// A file that holds the cursor up to which changes have been handed over: one line with the last token
/// and, within a transaction, the number of its changes.
struct StateFile: CursorStore {
  let delivered = DeliveredTransactions()
  private let path: String

  init(_ path: String) {
    self.path = path
  }

  /// The cursor in the file; nil if there is no file.
  func load() throws -> HistoryCursor? {
    let bytes: [UInt8]?
    do throws(AtomicFile.SystemError) {
      bytes = try AtomicFile(path).read(atMost: 256)
    } catch {
      throw FileError("could not read state file \"\(path)\": \(error)")
    }
    guard let bytes else { return nil }
    let text = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    guard let cursor = HistoryCursor(text) else {
      throw StoreError(
        .token(.malformed), "state file \"\(path)\" does not hold a token",
        hint: "If it is the right file, remove it and begin again, with --snapshot or --after.")
    }
    return cursor
  }

  /// Replaces the cursor in the file. If a power failure restores the older one, some changes are repeated,
  /// which is allowed after a crash.
  func save(_ cursor: HistoryCursor) throws {
    do throws(AtomicFile.SystemError) {
      try AtomicFile(path).write(Array("\(cursor)\n".utf8))
    } catch {
      throw FileError("could not write state file \"\(path)\": \(error)")
    }
  }
}

/// The last transactions of which changes were handed over, so that a watcher can name those that a restore or a
/// failover has lost.
final class DeliveredTransactions {
  /// Their tokens, oldest first.
  private(set) var tokens: [ChangeToken] = []

  /// How many a witness holds.
  static let mostKept = 100
  /// A page may have 500 transactions, which count only when their output has left the process.
  private static let mostPending = 500

  /// Notes that a change of a transaction was handed over. Those before it have been noted.
  func add(_ token: ChangeToken) {
    guard tokens.last != token else { return }
    tokens.append(token)
    let most = Self.mostKept + Self.mostPending
    if tokens.count >= 2 * most { tokens.removeFirst(tokens.count - most) }
  }

  /// Notes that a message about a transaction was delivered: in any order, because some are tried again.
  ///
  /// - Returns: Whether that is new.
  func insert(_ token: ChangeToken) -> Bool {
    let index = tokens.lastIndex { $0.number <= token.number }.map { $0 + 1 } ?? 0
    if index > 0, tokens[index - 1] == token { return false }
    tokens.insert(token, at: index)
    if tokens.count > Self.mostKept { tokens.removeFirst() }
    return true
  }

  /// Forgets all and begins with others.
  func replace(with others: [ChangeToken]) { tokens = others }

  /// The last ones up to a cursor, as a witness holds them.
  func last(upTo cursor: HistoryCursor) -> [ChangeToken] {
    let count = tokens.reversed().prefix { $0.number > cursor.token.number }.count
    return Array(tokens.dropLast(count).suffix(Self.mostKept))
  }

  /// Those that are not in the history any more. Two histories are the same up to the place where they part.
  ///
  /// - Parameter isLost: Whether a transaction is not in the history.
  func lost(_ isLost: (ChangeToken) throws -> Bool) rethrows -> [ChangeToken] {
    var range = 0..<tokens.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range =
        try isLost(tokens[middle])
        ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return Array(tokens[range.lowerBound...].suffix(Self.mostKept))
  }
}

extension ChangeToken {
  /// What is wrong with it; nil: it is one of the history.
  ///
  /// - Parameter verify: Throws a `StoreError` of kind `token` if it is not.
  func problem(_ verify: (ChangeToken) throws -> Void) throws -> StoreError.TokenProblem? {
    do {
      try verify(self)
      return nil
    } catch let error as StoreError {
      guard case .token(let problem) = error.kind else { throw error }
      return problem
    }
  }

  /// Whether the history lacks it. One that was purged was there.
  func isLost(_ verify: (ChangeToken) throws -> Void) throws -> Bool {
    ![nil, .expired].contains(try problem(verify))
  }
}
