package import Postgres
internal import QuakeHistory
package import QuakeModel

/// Events as they were after a transaction, from the history.
package struct RecordedEvents {
  private let connection: Connection

  /// - Parameter connection: Connected to the store, and not used by a reader that has a page under way.
  package init(connection: Connection) {
    self.connection = connection
  }

  /// The events as they were after a transaction that the history covers, without those that did not exist.
  package func events(
    _ codes: [EventCode], after token: ChangeToken
  ) throws -> [EventCode: EventRecord] {
    let rows = try connection.executePrepared(
      """
      select \(sql: EventColumn.list(of: "n"))
        from unnest(\(codes.map(\.text))::text[]) c (code)
       cross join lateral (
        select v.* from quake.quake_version v
          join quake.change_transaction t on t.transaction_id = v.transaction_id
         where v.code = c.code and t.token <= \(token.number)::bigint
         order by v.id desc limit 1
      ) n
       where n.op <> 'delete'
         and not exists (select from quake.quake_version e
                           join quake.change_transaction t on t.transaction_id = e.transaction_id
                          where e.op = 'truncate' and e.id > n.id and t.token <= \(token.number)::bigint)
      """, format: .binary)
    var events: [EventCode: EventRecord] = [:]
    for index in 0..<rows.rowCount {
      let event = try rows.record(index, firstColumn: 0)
      if let code = event.code { events[EventCode(code)] = event }
    }
    return events
  }
}
