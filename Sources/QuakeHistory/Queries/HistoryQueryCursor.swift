/// How far the answer to a query has been read.
struct HistoryQueryCursor: Equatable {
  /// The number after which the history must not be purged; nil: it may begin anywhere.
  var needed: Int64?
  /// The transaction of the change handed over last; before the first change, the one to begin with.
  var transaction: Int64
  /// The number of the version handed over last.
  var version: Int64
  /// Its position; nil if nothing of the transaction has been handed over.
  var position: Int64?
  /// By code, the number of the version handed over last.
  var versions: [String: Int64] = [:]
  /// The number of the version of the truncate handed over last.
  var truncate: Int64?

  /// Moves on to a version of a transaction.
  ///
  /// - Parameters:
  ///   - position: The change's.
  ///   - count: How many changes the transaction has.
  mutating func move(
    to version: Int64, at position: Int64, of transaction: Int64, count: Int64,
    _ order: HistoryQuery.Order
  ) {
    self.transaction = transaction
    self.version = version
    self.position = position
    guard order == .ascending else { return }
    // The history before it may be purged now, and so may a transaction that has been handed over whole.
    needed = transaction - 1
    if position + 1 == count {
      needed = transaction
      self.transaction = transaction + 1
      self.version = 0
      self.position = nil
    }
  }
}
