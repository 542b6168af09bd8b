package import Postgres
internal import QuakeHistory
package import QuakeModel

/// Events as they were after a transaction, one at a time, from the history.
package struct RecordedEvents {
  private let connection: Connection

  /// - Parameter connection: Connected to the store, and not used by a reader that has a page under way.
  package init(connection: Connection) {
    self.connection = connection
  }

  /// The event as it was after a transaction that the history covers; nil if there was none.
  package func event(_ code: String, after token: ChangeToken) throws -> EventRecord? {
    let rows = try connection.executePrepared(
      """
      with newest as (
        select v.* from quake.quake_version v
          join quake.change_transaction t on t.transaction_id = v.transaction_id
         where v.code = \(code) and t.token <= \(token.number)::bigint
         order by v.id desc limit 1
      )
      select \(sql: EventColumn.list(of: "n")) from newest n
       where n.op <> 'delete'
         and not exists (select from quake.quake_version e
                           join quake.change_transaction t on t.transaction_id = e.transaction_id
                          where e.op = 'truncate' and e.id > n.id and t.token <= \(token.number)::bigint)
      """, format: .binary)
    return rows.rowCount > 0 ? try rows.record(0, firstColumn: 0) : nil
  }
}
