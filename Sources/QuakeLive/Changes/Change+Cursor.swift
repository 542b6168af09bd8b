public import QuakeModel

extension Change: Identifiable {
  /// The cursor just after the change, which no other change has.
  public var id: HistoryCursor { cursor }

  /// The cursor just after this change. A program that stores it together with its own result of the
  /// change can resume from there.
  public var cursor: HistoryCursor {
    let done = position + 1
    return HistoryCursor(
      token: transaction.token, changes: done == transaction.changeCount ? 0 : done)
  }
}
