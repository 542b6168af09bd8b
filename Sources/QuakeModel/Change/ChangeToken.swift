/// A point in one particular history: all transactions up to a number.
///
/// Its text is `1042.9f3ac2d1`: the transaction's number in commit order, and its random nonce, which proves
/// that a reader with this token continues the same history. `0` is the point before the first transaction of
/// any history.
public struct ChangeToken: Hashable, Sendable {
  /// The transaction's number in commit order; 0 before the first.
  public let number: Int64
  /// Eight hexadecimal digits; 0 for `beginning`.
  private let nonce: UInt32

  /// The point before the first transaction.
  public static let beginning = ChangeToken(number: 0, nonce: 0)

  private init(number: Int64, nonce: UInt32) {
    self.number = number
    self.nonce = nonce
  }

  /// The token of transaction `number`, from 1, with its nonce as the database stores it (eight
  /// lower-case hexadecimal digits); nil if either is not of that form.
  public init?(number: Int64, nonce: some StringProtocol) {
    // The largest number is excluded, so that there is always a next one.
    guard number > 0, number < .max, nonce.utf8.count == 8 else { return nil }
    var value: UInt32 = 0
    for digit in nonce.utf8 {
      switch digit {
      case 0x30...0x39: value = value << 4 | UInt32(digit - 0x30)
      case 0x61...0x66: value = value << 4 | UInt32(digit - 0x61 + 10)
      default: return nil
      }
    }
    self.init(number: number, nonce: value)
  }

  /// Reads `1042.9f3ac2d1` or `0`; nil for anything else.
  public init?(_ text: String) {
    if text == "0" {
      self = .beginning
      return
    }
    // In bytes: readers compare a token for each transaction, and characters take much longer.
    let bytes = text.utf8
    guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")), let first = bytes.first,
      (0x31...0x39).contains(first), let number = Int64(text[..<dot])
    else { return nil }
    self.init(number: number, nonce: text[bytes.index(after: dot)...])
  }
}

extension ChangeToken: CustomStringConvertible {
  /// `1042.9f3ac2d1`, or `0`.
  public var description: String { nonceText.map { "\(number).\($0)" } ?? "0" }

  /// The nonce as the database stores it; nil for `beginning`.
  package var nonceText: String? {
    guard number > 0 else { return nil }
    let hexadecimal = String(nonce, radix: 16)
    return String(repeating: "0", count: 8 - hexadecimal.utf8.count) + hexadecimal
  }
}

/// A reader's position in the history: all transactions up to that of a token, of which all or some changes
/// are done.
///
/// Its text is the token and, within a transaction, a space and the number of changes that are done:
/// `1042.9f3ac2d1 17`.
public struct HistoryCursor: Hashable, Sendable {
  /// The last transaction of which changes are done.
  public var token: ChangeToken
  /// The number of its changes that are done; 0 if all are.
  public var changes: Int64

  /// The cursor after the transaction of `token`, or, if `changes` is not 0, within it.
  public init(token: ChangeToken, changes: Int64 = 0) {
    self.token = token
    self.changes = changes
  }

  /// Reads a token, alone or with a number of changes; nil for anything else.
  public init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard (1...2).contains(words.count), let token = ChangeToken(String(words[0])) else {
      return nil
    }
    self.init(token: token)
    if words.count == 2 {
      guard token != .beginning else { return nil }
      // Each number has one form: no sign, no leading zero.
      guard let first = words[1].utf8.first, (0x31...0x39).contains(first),
        let changes = Int64(words[1])
      else { return nil }
      self.changes = changes
    }
  }
}

extension HistoryCursor: CustomStringConvertible {
  /// The token, and the number of changes if it is not 0.
  public var description: String { changes == 0 ? "\(token)" : "\(token) \(changes)" }
}

/// Cursors of one history in their order.
extension HistoryCursor {
  /// Whether a change comes after it.
  package func isBefore(_ change: Change) -> Bool {
    let number = change.transaction.token.number
    return number > token.number
      || number == token.number && changes > 0 && change.position >= changes
  }

  /// Whether it has less of the history than another cursor.
  package func isBefore(_ other: HistoryCursor) -> Bool {
    func done(_ cursor: HistoryCursor) -> Int64 { cursor.changes == 0 ? .max : cursor.changes }
    return (token.number, done(self)) < (other.token.number, done(other))
  }
}

/// Cursors as ids of events in a stream: `1042.9f3ac2d1`, and `1042.9f3ac2d1-7` after seven changes of the
/// transaction.
extension HistoryCursor {
  /// The id of the event after which this is the cursor. It has no space, so that it can be pasted into an
  /// address.
  public var eventID: String { changes == 0 ? "\(token)" : "\(token)-\(changes)" }

  /// Reads an id, or a cursor as `quake-watch` stores it; nil for anything else.
  public init?(eventID text: String) {
    guard text.utf8.count <= 64 else { return nil }
    guard let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")) else {
      self.init(text)
      return
    }
    self.init("\(text[..<dash]) \(text[text.utf8.index(after: dash)...])")
  }
}

/// The JSON of a transaction, which is the same in each of its changes.
final class TransactionText: Sendable {
  let transaction: ChangeTransaction
  /// The beginning of a change, up to its position.
  let beginning: [UInt8]
  /// The last member of a change, without the end of the object.
  let end: [UInt8]

  init(_ transaction: ChangeTransaction, hidesSessions: Bool) {
    self.transaction = transaction
    var json = JSONWriter()
    json.hidesSessions = hidesSessions
    json.beginObject()
    json.member("token", transaction.token.description)
    json.key("position")
    beginning = json.bytes
    json.removeAll()
    json.key("transaction")
    json.transaction(transaction)
    end = [0x2C] + json.bytes
  }
}

/// A place at which a reader of the history finds that changes are missing. Numbers of tokens have gaps that mean
/// nothing: only the predecessor that each transaction names shows that one is missing.
package struct HistoryGap: Sendable {
  /// The last transaction before it.
  let token: ChangeToken
  /// What was found instead of the next one.
  let detail: String

  /// The gap between `token` and the next transaction that was read; nil if there is none.
  ///
  /// - Parameter predecessor: See `ChangeTransaction.predecessor`.
  package init?(after token: ChangeToken, next: ChangeToken, predecessor: String?) {
    guard let predecessor, ChangeToken(predecessor) != token, predecessor != "\(token.number)"
    else { return nil }
    self.token = token
    detail = "The next transaction here, \(next), names \(predecessor) as the one before it."
  }

  /// The gap in a transaction of which there are fewer changes than it had.
  package init(in token: ChangeToken, changes: Int64) {
    self.token = token
    detail = "The history holds only \(changes) of the transaction's changes."
  }

  /// The gap between `token` and what a server says is the end of its history, without the changes in between.
  package init(after token: ChangeToken, end: ChangeToken) {
    self.token = token
    detail = "The history ends with \(end) here, and the changes in between did not come."
  }

  /// The error of kind `token`.
  ///
  /// - Parameter cause: Why changes may be missing, as sentences.
  package func error(because cause: String) -> StoreError {
    StoreError(
      .token(.diverged), "history diverged at token \(token)", detail: detail,
      hint: "\(cause) Begin again with a snapshot.")
  }
}
