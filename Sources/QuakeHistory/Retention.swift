internal import Basics
package import Postgres
package import QuakeModel

/// Purges old history: below the retention floor only the newest version of each event stays.
package struct Retention {
  private let connection: Connection
  /// A durable cursor with a greater lag does not hold the purge back.
  private let holdLimit: Duration

  /// The default limit of the lag with which a durable cursor holds a purge back.
  package static let standardHoldLimit = Duration.seconds(7 * 86_400)

  package init(connection: Connection, holdLimit: Duration = standardHoldLimit) {
    self.connection = connection
    self.holdLimit = holdLimit
  }

  /// Up to where to purge the history.
  package enum Bound: Sendable {
    /// The token that becomes the oldest valid one.
    case token(ChangeToken)
    /// The token that was the newest this long ago.
    case age(Duration)
    /// The token that was the newest at that time.
    case time(Timestamp)
  }

  package struct Plan: Sendable {
    /// The oldest valid token now.
    package let oldest: ChangeToken
    package let asked: ChangeToken
    /// The oldest valid token afterwards.
    package let floor: ChangeToken
    /// Durable cursors that hold the floor below the requested token.
    package let pinning: [DurableCursor.Status]
    /// Versions below the floor that a purge would remove.
    package let versions: Int64
    /// Transactions that it would remove with them.
    package let transactions: Int64
  }

  package struct Outcome: Sendable {
    /// The oldest valid token.
    package let floor: ChangeToken
    package var versions: Int64 = 0
    package var transactions: Int64 = 0
    /// Whether everything below the floor that can be removed is removed.
    package var isFinished = false
  }

  /// Computes the effects of `purge` without purging.
  ///
  /// - Throws: `StoreError` of kind `token` if the token is not one of this history.
  package func plan(before bound: Bound) throws -> Plan {
    try connection.transaction(.repeatableRead, readOnly: true) {
      let oldest = try token("select quake.oldest_token()")
      let asked = try resolve(bound)
      let floor = try purgeable(to: asked) ?? oldest
      let pinning = try DurableCursor.list(over: connection).filter { cursor in
        !cursor.isExpired && needs(cursor) < asked.number && cursor.secondsBehind <= holdSeconds
      }
      let (versions, transactions) = try connection.row(
        Self.count(below: floor), as: (Int64, Int64).self)
      return Plan(
        oldest: oldest, asked: asked, floor: floor, pinning: pinning, versions: versions,
        transactions: transactions)
    }
  }

  /// Raises the floor as far as the durable cursors allow, and removes the history below it, in batches that
  /// each take a fraction of a second and block no writer and no reader. It also removes what an earlier
  /// purge has left.
  ///
  /// - Parameters:
  ///   - shouldStop: Is called after each batch. The next purge removes the rest.
  ///   - progress: Gets what is done so far, after each batch.
  /// - Throws: `StoreError` of kind `token` if the token is not one of this history.
  package func purge(
    before bound: Bound, shouldStop: () -> Bool = { false },
    progress: (Outcome) -> Void = { _ in }
  ) throws -> Outcome {
    try raise(to: try resolve(bound))
    var outcome = Outcome(floor: try token("select quake.oldest_token()"))
    while !outcome.isFinished, !shouldStop() {
      let (versions, transactions, isFinished) = try connection.row(
        "select versions, transactions, finished from quake.purge_history(2000)", prepared: true,
        as: (Int64, Int64, Bool).self)
      outcome.versions += versions
      outcome.transactions += transactions
      outcome.isFinished = isFinished
      progress(outcome)
    }
    return outcome
  }

  private func raise(to asked: ChangeToken) throws {
    do throws(PostgresError) {
      try connection.execute(
        "select quake.raise_history_floor(\(asked), make_interval(secs => \(holdSeconds)))")
    } catch {
      guard Self.isBelowFloor(error) else { throw StoreError(token: error) ?? error }
    }
  }

  /// How far the floor may be raised; nil if the requested token is below it already.
  private func purgeable(to asked: ChangeToken) throws -> ChangeToken? {
    do throws(PostgresError) {
      try connection.execute("savepoint purgeable")
      return try connection.row(
        "select quake.purgeable_to(\(asked), make_interval(secs => \(holdSeconds)))",
        as: ChangeToken?.self)
    } catch {
      guard Self.isBelowFloor(error) else { throw StoreError(token: error) ?? error }
      try connection.execute("rollback to savepoint purgeable")
      return nil
    }
  }

  /// Whether the token is below the floor already, so that there is nothing to purge.
  private static func isBelowFloor(_ error: PostgresError) -> Bool {
    StoreError(token: error)?.kind == .token(.expired)
  }

  private func resolve(_ bound: Bound) throws -> ChangeToken {
    switch bound {
    case .token(let token): token
    case .age(let age):
      try token("select quake.token_at(now() - make_interval(secs => \(age.inSeconds)))")
    case .time(let time): try token("select quake.token_at(\(time))")
    }
  }

  private func token(_ query: SQL) throws -> ChangeToken {
    try connection.row(query, as: ChangeToken.self)
  }

  private func needs(_ watcher: DurableCursor.Status) -> Int64 {
    watcher.cursor.changes > 0
      ? watcher.cursor.token.number - 1 : watcher.cursor.token.number
  }

  private var holdSeconds: Double { holdLimit.inSeconds }

  /// Counts the versions up to a floor that a purge removes (those that a later version replaces, deletes,
  /// and all before a truncate), and the transactions that have no other versions.
  private static func count(below floor: ChangeToken) -> SQL {
    """
    with below as (
      select v.transaction_id, v.id, v.code, v.op, t.token
        from quake.change_transaction t join quake.quake_version v using (transaction_id)
       where t.token <= \(floor.number)
    ), judged as (
      select b.transaction_id, b.token,
             b.op in ('delete', 'truncate')
             or b.id < coalesce((select max(e.id) from below e where e.op = 'truncate'), 0)
             or lead(b.id) over (partition by b.code order by b.id) is not null as goes
        from below b
    )
    select (select count(*) filter (where j.goes) from judged j),
           (select count(*) from quake.change_transaction t
             where t.token < \(floor.number)
               and not exists (select from judged j
                                where j.transaction_id = t.transaction_id and not j.goes))
    """
  }
}
