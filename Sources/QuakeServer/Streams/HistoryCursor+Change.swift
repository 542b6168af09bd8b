import QuakeModel

extension HistoryCursor {
  /// The cursor after a change.
  init(after change: Change) {
    let isLast = change.position + 1 == change.transaction.changeCount
    self.init(token: change.transaction.token, changes: isLast ? 0 : change.position + 1)
  }

  /// Whether a change comes before this cursor. The tokens must be of one history.
  func covers(_ change: Change) -> Bool {
    let number = change.transaction.token.number
    if number != token.number { return number < token.number }
    return changes == 0 || change.position < changes
  }
}
