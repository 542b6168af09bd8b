internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The transactions that a restore undoes, as the history numbers them.
struct RestoreScope {
  /// Their `transaction_id`s.
  let transactions: [Int64]
  /// Those of an edit whose history was purged.
  let purged: Int64

  /// The scope of tokens.
  ///
  /// - Throws: `StoreError` if one is not of this history, or what was before it was purged.
  init(_ tokens: [ChangeToken], over connection: Connection) throws {
    var found: [Int64] = []
    for token in tokens {
      let row: QueryResult
      do throws(PostgresError) {
        row = try connection.execute(
          """
          select t.transaction_id, t.truncated, f.token, t.context
            from quake.history_floor f
            left join quake.change_transaction t on t.token = quake.token_number($1)
          """, [.text("\(token)")])
      } catch {
        guard let invalid = StoreError(token: error) else { throw error }
        throw invalid.kind == .token(.expired) ? Self.purged(token) : invalid
      }
      guard let id = row.integer(0, 0) else {
        throw StoreError(.token(.malformed), "token \(token) is not of a transaction")
      }
      let floor = row.integer(0, 2) ?? 0
      guard token.number > floor else { throw Self.purged(token) }
      guard row.integer(0, 1) == 0 else {
        throw StoreError(
          .badData, "cannot undo transaction \(token): it truncated the table of events",
          hint: "\"quake-query list --as-of\" with the token before it has the events.")
      }
      guard row.text(0, 3) != ChangeTransaction.associationContext else {
        throw StoreError(
          .badData, "cannot undo transaction \(token): it associated events, or ended associations",
          hint: """
            "quake-admin associations split" and "join" decide about two events, and "associations disable" \
            ends all associations.
            """)
      }
      found.append(id)
    }
    transactions = found
    purged = 0
  }

  /// The scope of an edit.
  ///
  /// - Throws: `StoreError` if there is no such edit.
  init(edit id: Int64, over connection: Connection) throws {
    let rows = try connection.execute(
      """
      select e.transaction_id, t.token > f.token
        from quake.edit d
       cross join quake.history_floor f
        left join quake.edit_transaction e on e.edit_id = d.id
        left join quake.change_transaction t on t.transaction_id = e.transaction_id
       where d.id = $1 order by t.token
      """, [.integer(id)])
    guard rows.rowCount > 0 else {
      throw StoreError(
        .unknownEdit, "there is no edit \(id)", hint: "The table quake.edit lists the edits.")
    }
    var found: [Int64] = []
    var purged: Int64 = 0
    for row in 0..<rows.rowCount {
      guard let transaction = rows.integer(row, 0) else { continue }
      if rows.bool(row, 1) == true { found.append(transaction) } else { purged += 1 }
    }
    transactions = found
    self.purged = purged
  }

  private static func purged(_ token: ChangeToken) -> StoreError {
    StoreError(
      .token(.expired), "cannot undo transaction \(token): the history before it was purged",
      hint: "Restore from a backup, or let the feeds store the events anew.")
  }
}
