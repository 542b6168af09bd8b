internal import QuakeModel

/// A transaction, and the one before it in commit order, as the database recorded it at commit
/// (`change_transaction.predecessor`).
///
/// Numbers of tokens have gaps that mean nothing. So only this shows that transactions are missing.
struct HistoryLink {
  let transaction: ChangeTransaction
  /// The token of the transaction before. Its number alone, if the transaction's isolation level hid the nonce from
  /// it; nil if the transaction is older than the column.
  let predecessor: String?

  /// The error of kind `token` if a transaction is missing between `token` and this one; nil if none is.
  func gap(after token: ChangeToken) -> StoreError? {
    guard let predecessor, ChangeToken(predecessor) != token, predecessor != "\(token.number)"
    else { return nil }
    return StoreError(
      .token(.diverged), "history diverged at token \(token)",
      detail: """
        The next transaction here, \(transaction.token), names \(predecessor) as the one before it.
        """,
      hint: """
        Transactions in between are missing, because rows of the history were removed or not copied, or another \
        history has taken its place; "quake-query verify" shows all such places. Begin again with a snapshot.
        """)
  }

  /// The error for a transaction of which the history holds fewer changes than it had.
  static func incomplete(_ token: ChangeToken, changes: Int64) -> StoreError {
    StoreError(
      .token(.diverged), "history diverged at token \(token)",
      detail: "The history holds only \(changes) of the transaction's changes.",
      hint: """
        Rows of the history were removed or not copied; "quake-query verify" shows all such places. Begin again with \
        a snapshot.
        """)
  }
}
