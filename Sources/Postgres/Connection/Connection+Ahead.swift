internal import CLibpq

extension Connection {
  /// A statement that was sent without waiting for its answer.
  enum Ahead {
    case none
    case underWay(SQL)
    case answered(OpaquePointer)
    case failed(PostgresError)
  }

  /// Tells a statement that was sent ahead from others that were.
  public struct AheadTicket: Equatable, Sendable {
    let number: Int
  }

  /// Sends a statement, prepared as by `executePrepared`, and returns without waiting for its answer,
  /// so that the server works while the caller does. `takeAhead` takes the answer. Other statements
  /// may run before that: the answer is then received first, and kept until another statement is sent
  /// ahead.
  ///
  /// - Parameter limit: The most bytes that the answer may have, as for `executePrepared`.
  /// - Returns: What to take the answer with.
  public func prefetch(
    _ statement: SQL, _ parameters: [Parameter] = [], format: Format = .text, limit: Int? = nil
  ) throws(PostgresError) -> AheadTicket {
    dropAhead()
    guard !setsPath || !isIdle else {
      // It has to be done within a transaction, which nobody would end while the caller works.
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

  /// Takes in what has arrived of the answer to the statement sent ahead; never blocks. The server
  /// cannot go on with a long answer if nobody does.
  public func receiveAhead() throws(PostgresError) {
    guard case .underWay = ahead else { return }
    try takeIn()
  }

  /// The answer to the statement sent ahead; nil if it is taken already, or another one was sent ahead
  /// since.
  public func takeAhead(_ ticket: AheadTicket) throws(PostgresError) -> QueryResult? {
    ticket.number == aheadCount ? try takeAhead() : nil
  }

  private func takeAhead() throws(PostgresError) -> QueryResult? {
    try settle()
    defer { ahead = .none }
    switch ahead {
    case .none, .underWay: return nil
    case .answered(let result): return QueryResult(owning: result)
    case .failed(let error): throw error
    }
  }

  /// Receives the whole answer to the statement sent ahead, if there is one, and keeps it: afterwards
  /// the server has nothing more to do for this connection.
  public func settle() throws(PostgresError) {
    guard case .underWay(let statement) = ahead else { return }
    do throws(PostgresError) {
      ahead = .answered(try lastResult(statement.text).release())
    } catch {
      ahead = .failed(error)
      guard error.kind == .server || error.kind == .tooLarge else { throw error }
    }
  }

  /// Forgets the statement sent ahead, and its answer.
  private func dropAhead() {
    _ = try? takeAhead()
  }
}
