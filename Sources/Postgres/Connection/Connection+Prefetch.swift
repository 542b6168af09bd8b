internal import CLibpq

extension Connection {
  /// The state of the prefetched statement, which was sent without waiting for its answer.
  enum Prefetched {
    case none
    case underWay(SQL)
    case answered(OpaquePointer)
    case failed(PostgresError)
    /// A COPY whose rows have not all been read.
    case copying(CopyStream)
  }

  package struct PrefetchTicket: Equatable, Sendable {
    let number: Int
  }

  /// Sends a statement, prepared as by `executePrepared`, and returns without waiting for its answer, so that
  /// the server works while the caller does. `takePrefetched` returns the answer. If another statement runs before
  /// that, the answer is received first, and kept until the next prefetch.
  ///
  /// - Parameter limit: The most bytes that the answer may have, as for `executePrepared`.
  /// - Returns: The ticket for `takePrefetched`.
  package func prefetch(
    _ statement: SQL, _ parameters: [Parameter] = [], format: Format = .text, limit: Int? = nil
  ) throws(PostgresError) -> PrefetchTicket {
    dropPrefetched()
    guard !pinsInTransactions || !isIdle else {
      // The statement would need a transaction, which would stay open while the caller works.
      do throws(PostgresError) {
        prefetched = .answered(
          try executePrepared(statement, parameters, format: format, limit: limit).release())
      } catch {
        prefetched = .failed(error)
        guard error.kind == .server || error.kind == .tooLarge else { throw error }
      }
      prefetchCount += 1
      return PrefetchTicket(number: prefetchCount)
    }
    try sendPrepared(statement, parameters, format: format, limit: limit)
    prefetched = .underWay(statement)
    prefetchCount += 1
    guard PQflush(connection) >= 0 else { throw lost() }
    return PrefetchTicket(number: prefetchCount)
  }

  /// Reads the part of the prefetched answer that has arrived, without blocking. The server cannot continue a
  /// long answer until the client reads.
  package func receivePrefetched() throws(PostgresError) {
    guard case .underWay = prefetched else { return }
    try takeIn()
  }

  /// The prefetched answer; nil if it was taken already, or another statement was prefetched since.
  package func takePrefetched(_ ticket: PrefetchTicket) throws(PostgresError) -> QueryResult? {
    ticket.number == prefetchCount ? try takePrefetched() : nil
  }

  private func takePrefetched() throws(PostgresError) -> QueryResult? {
    try finishPrefetch()
    defer { prefetched = .none }
    switch prefetched {
    case .none, .underWay, .copying: return nil
    case .answered(let result): return QueryResult(owning: result)
    case .failed(let error): throw error
    }
  }

  /// Receives the whole prefetched answer, if there is one, and keeps it; of a prefetched COPY, as many rows as
  /// `prefetchCopy` says. Afterwards the connection is idle.
  package func finishPrefetch() throws(PostgresError) {
    if case .copying(let stream) = prefetched {
      if stream.isUnderWay { try stream.receiveRest(over: self) }
      return
    }
    guard case .underWay(let statement) = prefetched else { return }
    do throws(PostgresError) {
      prefetched = .answered(try lastResult(statement.text).release())
    } catch {
      prefetched = .failed(error)
      guard error.kind == .server || error.kind == .tooLarge else { throw error }
    }
  }

  /// Discards a prefetched statement and its answer, unless another one was prefetched since.
  package func dropPrefetched(_ ticket: PrefetchTicket) {
    if ticket.number == prefetchCount { dropPrefetched() }
  }

  /// Discards the prefetched statement and its answer.
  func dropPrefetched() {
    if case .copying(let stream) = prefetched { stream.drop(over: self) }
    _ = try? takePrefetched()
  }
}
