public import QuakeModel

extension Change {
  /// The place in the history just after this change. A program that keeps it, together with what it
  /// made of the change, can go on from there another time.
  public var place: HistoryCursor {
    let done = position + 1
    return HistoryCursor(
      token: transaction.token, changes: done == transaction.changeCount ? 0 : done)
  }
}
