internal import CLibpq

extension Connection {
  /// Runs `COPY (query) TO STDOUT (FORMAT binary)`, and passes its rows to `body` as they arrive. In bulk that
  /// costs the server a little more than `psql` needs for a COPY in the text format, and the client a fifth
  /// of a `QueryResult`. Memory does not depend on the number of rows. The connection cannot be used for
  /// anything else meanwhile.
  ///
  /// When `body` throws, or returns before the last row, the statement is cancelled and the connection stays
  /// usable; an open transaction has then failed.
  ///
  /// - Parameters:
  ///   - query: The query. COPY takes no parameters: each is replaced by a literal of its value.
  ///   - columns: The number of columns of the query.
  ///   - rowLimit: The most bytes of a row, approximately; nil for no limit. A larger one is an error of kind
  ///     `tooLarge`, after which the connection is unusable.
  ///   - body: Reads the rows.
  package func copyOut(
    _ query: SQL, columns: Int, rowLimit: Int? = nil, _ body: (inout CopyReader) throws -> Void
  ) throws {
    try finishPrefetch()
    let copy = try copyStatement(query)
    let stream = CopyStream(statement: query, columns: columns, rowLimit: rowLimit)
    let hasBegun = try beginPinnedIfNeeded()
    do {
      try send(copy)
      var reader = CopyReader(self, stream)
      try body(&reader)
    } catch {
      stream.drop(over: self)
      rollBackPinned(hasBegun)
      throw error
    }
    stream.drop(over: self)
    try commitPinned(hasBegun)
  }

  /// Sends a COPY as `copyOut` does, and returns without waiting for its rows, so that the server works while
  /// the caller does. `readPrefetchedCopy` reads them. If another statement runs before all are read, rows of
  /// 4 MiB are received first; the statement is cancelled if there are more, and `isCutShort` is set.
  package func prefetchCopy(
    _ query: SQL, columns: Int, rowLimit: Int? = nil
  ) throws(PostgresError) -> PrefetchTicket {
    dropPrefetched()
    let copy = try copyStatement(query)
    let stream = CopyStream(statement: query, columns: columns, rowLimit: rowLimit)
    // The statement may need a transaction, which must not stay open while the caller works.
    let needsTransaction = pinsInTransactions && isIdle
    try withPinnedSettings { () throws(PostgresError) in
      try send(copy)
      if needsTransaction { try stream.receiveRest(over: self) }
    }
    prefetched = .copying(stream)
    prefetchCount += 1
    return PrefetchTicket(number: prefetchCount)
  }

  /// Passes the rows of a prefetched COPY to `body`, which may leave some of them to a later call. When `body`
  /// throws, the statement is cancelled.
  ///
  /// - Parameters:
  ///   - ticket: What `prefetchCopy` returned.
  ///   - row: How many rows the caller has read before.
  /// - Returns: Whether `body` was called. It is not if another statement was prefetched since, or if
  ///   other code has read some of the rows.
  package func readPrefetchedCopy(
    _ ticket: PrefetchTicket, after row: Int, _ body: (inout CopyReader) throws -> Void
  ) throws -> Bool {
    guard ticket.number == prefetchCount, case .copying(let stream) = prefetched,
      stream.rowCount == row
    else { return false }
    do {
      var reader = CopyReader(self, stream)
      try body(&reader)
    } catch {
      stream.drop(over: self)
      prefetched = .none
      throw error
    }
    return true
  }

  private func copyStatement(_ query: SQL) throws(PostgresError) -> SQL {
    let filled = try query.filled { parameter throws(PostgresError) in try literal(parameter) }
    // On lines of their own, because the query may end with a comment.
    return "copy (\n" + filled + "\n) to stdout (format binary)"
  }

  private func send(_ copy: SQL) throws(PostgresError) {
    expectAnswer(limit: nil)
    guard PQsendQuery(connection, copy.text) == 1 else { throw lost() }
  }

  /// How many bytes have arrived that libpq has not read.
  var available: Int { Int(quake_pq_available(connection)) }
}
