/// How far a request has been read.
struct HistoryQueryCursor: Equatable {
  /// The number after which the history must still be there; nil: wherever it begins now.
  var needed: Int64?
  /// The transaction of the change handed over last; where nothing of it has been, the one to begin
  /// with.
  var transaction: Int64
  /// The number of the version handed over last.
  var version: Int64
  /// Its position; nil where nothing of the transaction has been handed over.
  var position: Int64?
  /// By code, the number of the version handed over last.
  var versions: [String: Int64] = [:]
  /// That of the truncate handed over last.
  var truncate: Int64?

  /// Goes on to a version of a transaction.
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
    // What lies before is needed no more; a transaction that is done need not be there either.
    needed = transaction - 1
    if position + 1 == count {
      needed = transaction
      self.transaction = transaction + 1
      self.version = 0
      self.position = nil
    }
  }
}
