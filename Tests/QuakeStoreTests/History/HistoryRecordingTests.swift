import Postgres
import TestSupport
import Testing

/// What any client's plain SQL leaves in the history.
@Suite final class HistoryRecordingTests: DatabaseSuite {
  @Test func theHistoryRecordsInsertsUpdatesDeletesAndTruncates() throws {
    try connection.insertQuakes("a", "b")
    try connection.run(
      "update quake.quake set magnitude = 6, place = 'here' where code = 'a'",
      "update quake.quake set magnitude = 6 where code = 'a'",
      "update quake.quake set magnitude = 7 where code = 'nowhere'",
      "delete from quake.quake where code = 'nowhere'",
      "insert into quake.quake (code, time) select 'x', now() where false",
      "delete from quake.quake where code = 'b'",
      "truncate quake.quake")
    #expect(
      try connection.historyLines() == [
        "1:0 insert a", "2:0 insert b", "3:0 update a {magnitude,place}", "4:0 delete b",
        "5:0 truncate",
      ])
    #expect(try connection.historyFaults() == [])
    #expect(
      try connection.table(
        """
        select inserted, updated, deleted, truncated from quake.change_transaction order by token
        """) == ["1|0|0|0", "1|0|0|0", "0|1|0|0", "0|0|1|0", "0|0|0|1"])
    // Not all that a transaction inserts is gone with its truncate.
    try connection.transaction {
      try connection.insertQuakes("a")
      try connection.run("truncate quake.quake")
      try connection.insertQuakes("a", "c")
    }
    #expect(
      try connection.historyLines().suffix(4)
        == ["6:0 insert a", "6:1 truncate", "6:2 insert a", "6:3 insert c"])
    #expect(
      try connection.table("select code from quake.as_of(quake.latest_token()) order by code")
        == ["a", "c"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func aDeleteAndInsertOfOneEventInOneStatementIsRefused() throws {
    try connection.insertQuakes("a", "b")
    let error = try #require(throws: PostgresError.self) {
      try connection.execute(
        """
        with gone as (delete from quake.quake where code in ('a', 'b') returning *)
        insert into quake.quake select * from gone limit 1
        """)
    }
    #expect(error.sqlState == "0A000")
    #expect(error.message.contains("\"a\"") || error.message.contains("\"b\""))
    #expect(try connection.historyLines() == ["1:0 insert a", "2:0 insert b"])
    // In two statements it is a delete and an insert.
    try connection.transaction {
      try connection.execute("delete from quake.quake where code = 'a'")
      try connection.insertQuakes("a")
    }
    #expect(try connection.historyLines().suffix(2) == ["3:0 delete a", "3:1 insert a"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func theHistoryNamesEveryChangedColumn() throws {
    try connection.insertQuakes("a")
    let columns = try connection.table(
      """
      select attname, format_type(atttypid, null) from pg_attribute
       where attrelid = 'quake.quake'::regclass and attnum > 1
         and attname <> 'first_stored'  -- which no update changes
       order by attnum
      """
    ).map { $0.split(separator: "|").map(String.init) }
    for column in columns {
      let value: String
      switch (column[0], column[1]) {
      // Only together with the other.
      case ("longitude", _), ("latitude", _): continue
      case (_, "text"): value = "'changed'"
      case (_, "timestamp with time zone"): value = "'2001-02-03Z'"
      case (_, "boolean"): value = "true"
      default: value = "7"
      }
      try connection.run("update quake.quake set \(column[0]) = \(value)")
      #expect(
        try connection.ask(
          "select changed from quake.quake_version order by id desc limit 1") == "{\(column[0])}")
    }
    try connection.run("update quake.quake set longitude = 1, latitude = 2")
    #expect(
      try connection.ask("select changed from quake.quake_version order by id desc limit 1")
        == "{longitude,latitude}")
    #expect(try connection.historyFaults() == [])
  }

  @Test func statementsOfOneTransactionAreRecordedInTheirOrder() throws {
    try connection.transaction {
      try connection.insertQuakes("a", "b", "c")
      try connection.run(
        "update quake.quake set magnitude = 6 where code in ('a', 'b')",
        "delete from quake.quake where code = 'a'")
      try connection.insertQuakes("a")
    }
    let lines = try connection.historyLines()
    #expect(lines.count == 7)
    #expect(lines.map { $0.prefix(3) } == (0..<7).map { "1:\($0)" })
    #expect(Array(lines[..<3]) == ["1:0 insert a", "1:1 insert b", "1:2 insert c"])
    #expect(
      Set(lines[3..<5].map { $0.dropFirst(4) }) == [
        "update a {magnitude}", "update b {magnitude}",
      ])
    #expect(Array(lines[5...]) == ["1:5 delete a", "1:6 insert a"])
    #expect(
      try connection.table(
        "select inserted, updated, deleted, truncated from quake.change_transaction")
        == ["4|2|1|0"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func nothingThatIsRolledBackIsRecorded() throws {
    // The first change is in the savepoint.
    try connection.run("begin", "savepoint s")
    try connection.insertQuakes("gone")
    try connection.run("rollback to s")
    try connection.insertQuakes("a")
    try connection.run("commit")
    // Before it and in it.
    try connection.run("begin")
    try connection.insertQuakes("b")
    try connection.run("savepoint s", "update quake.quake set magnitude = 1")
    try connection.run("rollback to s")
    try connection.insertQuakes("c")
    try connection.run("commit")
    // Only in it, or all of it: then there is no transaction to record.
    try connection.run(
      "begin", "savepoint s", "delete from quake.quake", "rollback to s", "commit", "begin",
      "delete from quake.quake", "rollback")
    // Nested, inner kept and outer lost, inner lost and outer kept.
    try connection.run("begin", "savepoint outer_1")
    try connection.insertQuakes("gone 1")
    try connection.run("savepoint inner_1")
    try connection.insertQuakes("gone 2")
    try connection.run("release inner_1", "rollback to outer_1", "savepoint outer_2")
    try connection.insertQuakes("d")
    try connection.run("savepoint inner_2")
    try connection.insertQuakes("gone 3")
    try connection.run("rollback to inner_2", "rollback to inner_2")
    try connection.insertQuakes("e")
    try connection.run("release outer_2", "commit")
    #expect(
      try connection.historyLines() == [
        "1:0 insert a", "2:0 insert b", "2:1 insert c", "3:0 insert d", "3:1 insert e",
      ])
    #expect(try connection.historyFaults() == [])
  }

  @Test func upsertsMergesAndCopiesAreRecordedAsTheirOperations() throws {
    try connection.insertQuakes("a", "b", magnitude: 5)
    try connection.run(
      """
      insert into quake.quake as q (code, time, magnitude)
      values ('a', '2024-01-31T12:00:00Z', 5), ('b', '2024-01-31T12:00:00Z', 6),
             ('c', '2024-01-31T12:00:00Z', 7)
      on conflict (code) do update set magnitude = excluded.magnitude
      """,
      "insert into quake.quake (code, time) values ('a', now()) on conflict do nothing")
    #expect(
      Set(try connection.historyLines().dropFirst(2).map { String($0.dropFirst(4)) }) == [
        "update b {magnitude}", "insert c",
      ])
    #expect(
      try connection.table(
        "select inserted, updated from quake.change_transaction order by token desc limit 1")
        == ["1|1"])
    try connection.run(
      """
      merge into quake.quake q using (values ('a'), ('b'), ('d')) s (code) on q.code = s.code
      when matched and s.code = 'a' then delete
      when matched then update set felt = 1
      when not matched then insert (code, time) values (s.code, now())
      """)
    #expect(
      Set(try connection.historyLines().dropFirst(4).map { String($0.dropFirst(4)) }) == [
        "delete a", "update b {felt}", "insert d",
      ])
    try connection.copyIn("copy quake.quake (code, time) from stdin (format binary)") { writer in
      for number in 0..<1_000 {
        try writer.beginRow(columnCount: 2)
        writer.values.text("c\(number)")
        writer.values.timestamp(microseconds: Int64(number))
      }
    }
    #expect(
      try connection.historyLines().dropFirst(7) == (0..<1_000).map { "5:\($0) insert c\($0)" }[...]
    )
    #expect(try connection.historyFaults() == [])
  }

  @Test func theHistoryRecordsAuthorAndContext() throws {
    let begun = try connection.ask("select clock_timestamp()")
    let writer = try database.connect(applicationName: "some program")
    try writer.transaction {
      try writer.run("set local quake.author = 'é \"x\"'", "set local quake.context = 'why'")
      try writer.insertQuakes("a")
    }
    // The local settings are gone with their transaction; a session's stay.
    try writer.insertQuakes("b")
    try writer.run("set quake.author = 'session'", "set application_name = ''")
    try writer.insertQuakes("c")
    let pid = writer.serverProcessID
    #expect(
      try connection.table(
        """
        select author, context, application_name, database_user, process_id, client_address is null,
               at between $1::timestamptz and clock_timestamp(), import_id is null
          from quake.change_transaction order by token
        """, [.text(begun)]) == [
          "é \"x\"|why|some program|quake|\(pid)|t|t|t", "||some program|quake|\(pid)|t|t|t",
          "session|||quake|\(pid)|t|t|t",
        ])
  }

  @Test func immediateConstraintsRecordEachStatementForItself() throws {
    try connection.transaction {
      try connection.insertQuakes("a", "b")
      try connection.run("set constraints all immediate")
      try connection.insertQuakes("c")
      try connection.run(
        "update quake.quake set magnitude = 1", "set constraints all deferred",
        "delete from quake.quake where code = 'a'")
      try connection.insertQuakes("d")
    }
    #expect(
      try connection.table(
        """
        select inserted, updated, deleted from quake.change_transaction order by token
        """) == ["2|0|0", "1|0|0", "0|3|0", "1|0|1"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func commitsOfChangesAreFlushedWhateverTheSessionSets() throws {
    try connection.run("set synchronous_commit = off")
    for number in 0..<20 {
      try connection.run("begin")
      try connection.insertQuakes("s\(number)")
      let written = try #require(try connection.ask("select pg_current_wal_insert_lsn()"))
      try connection.run("commit")
      #expect(
        try connection.ask("select pg_current_wal_flush_lsn() >= $1::pg_lsn", [.text(written)])
          == "t")
    }
    // In the transaction itself, where it can be seen.
    try connection.run("begin")
    try connection.insertQuakes("t")
    try connection.run("set constraints all immediate")
    #expect(try connection.ask("show synchronous_commit") == "on")
    try connection.run("commit")
    #expect(try connection.ask("show synchronous_commit") == "off")
  }

  @Test func aChangeOfACodeIsRefused() throws {
    try connection.insertQuakes("a")
    let error = try #require(throws: PostgresError.self) {
      try connection.run("update quake.quake set code = 'b' where code = 'a'")
    }
    #expect(error.sqlState == "23000")
    #expect(error.message == "cannot change the code of event \"a\" to \"b\"")
    #expect(error.hint != nil)
    // Naming the column without changing it is no change.
    try connection.run("update quake.quake set code = code, felt = 1")
    #expect(try connection.historyLines() == ["1:0 insert a", "2:0 update a {felt}"])
  }

  @Test(arguments: ["code", "first_stored"])
  func aTriggerOfTheOwnersOwnCannotChangeWhatNoUpdateMayChange(column: String) throws {
    try connection.insertQuakes("a")
    let value = ["code": "'b'", "first_stored": "now() - interval '1 day'"][column] ?? ""
    try connection.run(
      """
      create function public.change() returns trigger language plpgsql as
        'begin new.\(column) := \(value.replacing("'", with: "''")); return new; end'
      """,
      "create trigger zz before update on quake.quake for each row execute function public.change()"
    )
    // The statement does not name the column.
    let error = try #require(throws: PostgresError.self) {
      try connection.run("update quake.quake set felt = 1")
    }
    #expect(error.sqlState == "23000")
    #expect(error.hint != nil)
    #expect(try connection.historyLines() == ["1:0 insert a"])
  }

  @Test func aNumberThatNoProgramCanShowIsRefused() throws {
    try connection.insertQuakes("a")
    for column in [
      "magnitude", "longitude", "latitude", "depth", "cdi", "mmi", "dmin", "rms", "gap",
    ] {
      for value in ["NaN", "Infinity", "-Infinity"] {
        let error = try #require(throws: PostgresError.self) {
          try connection.run("update quake.quake set \(column) = '\(value)'")
        }
        #expect(error.sqlState == "23514")
      }
    }
    try connection.run("update quake.quake set rms = 1e308, gap = -1e308, cdi = null, mmi = 0")
  }

  @Test func anInstantThatNoProgramCanShowIsRefused() throws {
    try connection.insertQuakes("a")
    for column in ["time", "updated", "as_of", "withdrawn_at"] {
      for value in ["infinity", "-infinity", "0044-03-15 BC", "10000-01-01Z"] {
        let error = try #require(throws: PostgresError.self) {
          try connection.run("update quake.quake set \(column) = '\(value)'")
        }
        #expect(error.constraint == "quake_\(column)_range")
      }
      try connection.run("update quake.quake set \(column) = '9999-12-31 23:59:59.999999Z'")
    }
    let error = try #require(throws: PostgresError.self) {
      try connection.run(
        "insert into quake.quake (code, time, first_stored) values ('b', now(), 'infinity')")
    }
    #expect(error.constraint == "quake_first_stored_range")
  }
}
