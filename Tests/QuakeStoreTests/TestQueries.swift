import Postgres
import QuakeModel
import QuakeSchema
import TestSupport

@testable import QuakeHistory

extension Connection {
  /// Inserts events with the given codes by one plain statement.
  func insertQuakes(_ codes: String..., magnitude: Double = 5) throws {
    for code in codes {
      try execute(
        """
        insert into quake.quake (code, time, magnitude, first_stored)
        values ($1, '2024-01-31T12:00:00Z', $2, '2024-01-31T12:10:00Z')
        """, [.text(code), .double(magnitude)])
    }
  }

  /// Inserts `count` events with codes of that prefix by one statement: one of the magnitude 1, one of 2, and so on.
  func insertMany(_ prefix: String, _ count: Int) throws {
    try execute(
      """
      insert into quake.quake (code, time, magnitude)
      select $1 || i, '2024-01-01Z', i % 10 from generate_series(1, $2::int) i
      """, [.text(prefix), .integer(Int64(count))])
  }

  /// Applies the migrations up to one of them.
  func migrate(upTo version: Int = .max) throws {
    let migrations = try Migrator.embedded().filter { $0.version <= version }
    _ = try Migrator(connection: self, migrations: migrations, program: "tests").migrate()
  }

  /// The whole history: `transaction:position op code {changed}`, transactions counted from 1.
  func historyLines() throws -> [String] {
    try table(
      """
      select dense_rank() over (order by split_part(token, '.', 1)::bigint) || ':' || position
             || ' ' || op || coalesce(' ' || code, '')
             || case when changed = '{}' then '' else ' ' || changed::text end
        from quake.changes_since('0')
      """)
  }

  /// The newest token: that of the test's own last transaction, if no other session writes.
  func latestToken() throws -> ChangeToken {
    try HistoryReader.latestToken(over: self)
  }

  /// What there is between the tables of the history that must always hold; empty if all is well.
  func historyFaults() throws -> [String] {
    try table(
      """
      select 'pending row left' from quake.change_pending
      union all
      select 'version without transaction ' || v.id from quake.quake_version v
       where not exists (select from quake.change_transaction t
                          where t.transaction_id = v.transaction_id)
      union all
      select 'wrong counts of ' || t.token
        from quake.change_transaction t
       cross join lateral (
         select count(*) filter (where op = 'insert'), count(*) filter (where op = 'update'),
                count(*) filter (where op = 'delete'), count(*) filter (where op = 'truncate')
           from quake.quake_version v where v.transaction_id = t.transaction_id
       ) c (inserted, updated, deleted, truncated)
       where (t.inserted, t.updated, t.deleted, t.truncated)
             <> (c.inserted, c.updated, c.deleted, c.truncated)
      union all
      select 'wrong predecessor of ' || t.token
        from (select token, predecessor, lag(token || '.' || nonce, 1, '0') over (order by token) as before
                from quake.change_transaction) t
       where coalesce(t.predecessor not in (t.before, split_part(t.before, '.', 1)), true)
      union all
      select 'the history does not give the table: ' || code from (
        (select * from quake.quake except select * from quake.as_of(quake.latest_token()))
        union all
        (select * from quake.as_of(quake.latest_token()) except select * from quake.quake)) d
      """)
  }
}

extension Change {
  /// All that it is, as one text.
  var text: String {
    var json = JSONWriter()
    json.change(self)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// Its token and position.
  var place: String { "\(transaction.token):\(position)" }
}
