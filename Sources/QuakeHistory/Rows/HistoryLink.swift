internal import QuakeModel

/// A transaction, and the one before it in commit order, as the database recorded it at commit
/// (`change_transaction.predecessor`).
struct HistoryLink {
  let transaction: ChangeTransaction

  /// The error of kind `token` if a transaction is missing between `token` and this one; nil if none is.
  func gap(after token: ChangeToken) -> StoreError? {
    let gap = HistoryGap(
      after: token, next: transaction.token, predecessor: transaction.predecessor)
    return gap?.error(
      because: """
        Transactions in between are missing, because rows of the history were removed or not copied, or another \
        history has taken its place; "quake-query verify" shows all such places.
        """)
  }

  /// The error for a transaction of which the history holds fewer changes than it had.
  static func incomplete(_ token: ChangeToken, changes: Int64) -> StoreError {
    HistoryGap(in: token, changes: changes).error(
      because: """
        Rows of the history were removed or not copied; "quake-query verify" shows all such places.
        """)
  }
}
