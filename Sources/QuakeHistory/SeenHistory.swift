package import Postgres
package import QuakeModel

/// The newest transaction that a program has seen, which shows whether the server that it is connected to now has
/// the same history: after a failover or a restore that lost transactions, it may not.
///
/// It is for programs that write and do not read the history, whose role may not see what a purge left.
package struct SeenHistory: Sendable {
  private var newest: ChangeToken?

  package init() {}

  /// Remembers the newest transaction there is. Call it after writing, and from time to time.
  package mutating func advance(over connection: Connection) throws {
    newest = try HistoryReader.latestToken(over: connection)
  }

  /// Compares the history over a new connection with what was seen before, and continues with that one.
  ///
  /// - Returns: The error of kind `token` if the transaction that was seen is missing there; nil if it is there, or
  ///   if it may have been purged.
  package mutating func resume(over connection: Connection) throws -> StoreError? {
    let latest = try HistoryReader.latestToken(over: connection)
    // What was seen counts until it has been compared: this connection may be lost, too.
    let problem = try compare(with: latest, over: connection)
    newest = latest
    return problem
  }

  private func compare(
    with latest: ChangeToken, over connection: Connection
  ) throws -> StoreError? {
    guard let seen = newest, seen != latest, seen != .beginning else { return nil }
    // The next transaction names the one before it also when that one has been purged.
    let (found, predecessor) = try connection.row(
      """
      select (select t.token || '.' || t.nonce from quake.change_transaction t where t.token = \(seen.number)),
             (select t.predecessor from quake.change_transaction t where t.token > \(seen.number)
               order by t.token limit 1)
      """, as: (String?, String?).self)
    if found == "\(seen)" { return nil }
    let detail: String
    if let found {
      detail = "Transaction \(seen.number) is \(found) there."
    } else if latest.number < seen.number {
      detail = "The newest transaction there is \(latest)."
    } else if let predecessor, Self.isMissing(seen, before: predecessor) {
      detail = "The transaction after it there names \(predecessor) as the one before it."
    } else {
      return nil
    }
    return StoreError(.token(.diverged), "history diverged at token \(seen)", detail: detail)
  }

  /// Whether a transaction is not the one that a later transaction names as the one before it, nor one before that.
  private static func isMissing(_ seen: ChangeToken, before predecessor: String) -> Bool {
    guard let number = Int64(predecessor.prefix { $0 != "." }) else { return false }
    if number != seen.number { return number < seen.number }
    return predecessor != "\(seen)" && predecessor != "\(seen.number)"
  }
}
