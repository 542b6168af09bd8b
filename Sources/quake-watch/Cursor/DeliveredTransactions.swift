import QuakeModel

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
