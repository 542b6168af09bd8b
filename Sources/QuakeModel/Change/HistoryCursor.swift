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
