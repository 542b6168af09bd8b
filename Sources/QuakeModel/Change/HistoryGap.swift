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
