internal import CLibpq

extension Connection {
  /// The state of the prefetched statement, which was sent without waiting for its answer.
  enum Ahead {
    case none
    case underWay(SQL)
    case answered(OpaquePointer)
    case failed(PostgresError)
  }

  /// Identifies a prefetched statement.
  public struct AheadTicket: Equatable, Sendable {
    let number: Int
  }

  /// Sends a statement, prepared as by `executePrepared`, and returns without waiting for its answer, so that
  /// the server works while the caller does. `takeAhead` returns the answer. If another statement runs before
  /// that, the answer is received first, and kept until the next prefetch.
  ///
  /// - Parameter limit: The most bytes that the answer may have, as for `executePrepared`.
  /// - Returns: The ticket for `takeAhead`.
  public func prefetch(
    _ statement: SQL, _ parameters: [Parameter] = [], format: Format = .text, limit: Int? = nil
  ) throws(PostgresError) -> AheadTicket {
    dropAhead()
    guard !setsPath || !isIdle else {
      // The statement would need a transaction, which would stay open while the caller works.
      do throws(PostgresError) {
        ahead = .answered(
          try executePrepared(statement, parameters, format: format, limit: limit).release())
      } catch {
        ahead = .failed(error)
        guard error.kind == .server || error.kind == .tooLarge else { throw error }
      }
      aheadCount += 1
      return AheadTicket(number: aheadCount)
    }
    try sendPrepared(statement, parameters, format, limit: limit)
    ahead = .underWay(statement)
    aheadCount += 1
    guard PQflush(connection) >= 0 else { throw lost() }
    return AheadTicket(number: aheadCount)
  }

  /// Reads the part of the prefetched answer that has arrived, without blocking. The server cannot continue a
  /// long answer until the client reads.
  public func receiveAhead() throws(PostgresError) {
    guard case .underWay = ahead else { return }
    try takeIn()
  }

  /// The prefetched answer; nil if it was taken already, or another statement was prefetched since.
  public func takeAhead(_ ticket: AheadTicket) throws(PostgresError) -> QueryResult? {
    ticket.number == aheadCount ? try takeAhead() : nil
  }

  private func takeAhead() throws(PostgresError) -> QueryResult? {
    try finishPrefetch()
    defer { ahead = .none }
    switch ahead {
    case .none, .underWay: return nil
    case .answered(let result): return QueryResult(owning: result)
    case .failed(let error): throw error
    }
  }

  /// Receives the whole prefetched answer, if there is one, and keeps it. Afterwards the connection is idle.
  public func finishPrefetch() throws(PostgresError) {
    guard case .underWay(let statement) = ahead else { return }
    do throws(PostgresError) {
      ahead = .answered(try lastResult(statement.text).release())
    } catch {
      ahead = .failed(error)
      guard error.kind == .server || error.kind == .tooLarge else { throw error }
    }
  }

  /// Discards the prefetched statement and its answer.
  private func dropAhead() {
    _ = try? takeAhead()
  }
}
