import Postgres
import TestSupport
import Testing

/// What a writer who means ill, or does not know better, can do to the history.
@Suite struct HistoryProtectionTests {
  private func open(_ version: ServerVersion) throws -> (TestDatabase, Connection) {
    let database = try TestDatabase(on: version.server)
    return (database, try database.connect())
  }

  @Test(arguments: ServerVersion.usual)
  func aChangedPendingSettingCannotFalsifyTheHistory(_ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    let victim = try database.connect()
    try victim.run("begin")
    try victim.insertQuakes("victim 1")
    let place = try #require(try victim.ask("select current_setting('quake.pending')"))
    let settings = [place, "", "(0,1)", "(999999999,9999)", "nonsense", "(0,0)", "(-1,1)"]
    for (number, setting) in settings.enumerated() {
      try connection.run("begin")
      try connection.execute("select set_config('quake.pending', $1, false)", [.text(setting)])
      try connection.insertQuakes("before \(number)")
      try connection.run("update quake.quake set felt = 1 where code = 'before \(number)'")
      try connection.execute("select set_config('quake.pending', $1, true)", [.text(setting)])
      try connection.insertQuakes("after \(number)")
      try connection.run("commit")
    }
    try victim.insertQuakes("victim 2")
    try victim.run("commit")
    #expect(try connection.historyFaults() == [])
    #expect(
      try connection.ask(
        "select inserted from quake.change_transaction order by token desc limit 1") == "2")
    // Nothing of the meddler's is lost: it just has two transactions where one would do.
    #expect(
      try connection.table("select sum(inserted), sum(updated) from quake.change_transaction")
        == ["16|7"])
  }

  @Test(arguments: ServerVersion.usual)
  func aSessionCannotClaimTheImportOfAnother(_ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    defer { withExtendedLifetime(database) {} }
    let id = try #require(
      try connection.ask(
        """
        insert into quake.import (source, feed, format, started_at, program)
        values ('s', 'f', 'x', now(), 'p') returning id
        """))
    for setting in [id, "0", "999999999999999999", "x", "-1", "1; drop table quake.quake"] {
      try connection.transaction {
        try connection.execute("select set_config('quake.import', $1, true)", [.text(setting)])
        try connection.insertQuakes("by \(setting)")
      }
    }
    #expect(try connection.ask("select token is null from quake.import") == "t")
    #expect(
      try connection.ask(
        "select count(*) filter (where import_id is null) from quake.change_transaction")
        == "6")
  }

  @Test(arguments: ServerVersion.present)
  func temporaryObjectsCannotShadowThoseOfTheHistory(_ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    defer { withExtendedLifetime(database) {} }
    try connection.run(
      "create temporary table change_pending (xid xid8)",
      "create temporary table quake_version (id int)",
      "create function pg_temp.count(text) returns bigint language sql as 'select 7::bigint'",
      "set search_path = pg_temp, quake, public")
    try connection.run("insert into quake.quake (code, time) values ('a', now())")
    #expect(try connection.historyLines() == ["1:0 insert a"])
    #expect(try connection.historyFaults() == [])
  }

  @Test(arguments: ServerVersion.present)
  func writersOfEventsAreRecordedAndCannotTouchTheHistory(_ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    // Roles are the whole server's; the name is this database's.
    let role = "writer_\(database.name)"
    try connection.run(
      "create role \(role) login", "grant usage on schema quake to \(role)",
      "grant select, insert, update, delete on quake.quake to \(role)")
    do {
      let writer = try database.connect(as: role)
      try writer.insertQuakes("a", "b")
      try writer.run(
        "update quake.quake set felt = 1 where code = 'a'",
        "delete from quake.quake where code = 'b'",
        """
        insert into quake.quake (code, time) values ('a', '2024-01-31T12:00:00Z')
        on conflict (code) do update set felt = 2
        """)
      try writer.copyIn("copy quake.quake (code, time) from stdin (format binary)") { copy in
        try copy.beginRow(columnCount: 2)
        copy.values.text("c")
        copy.values.timestamp(microseconds: 0)
      }
      try writer.run("create temporary table own (like quake.quake)")
      let recorders = ["insert", "update", "delete"].map {
        """
        create trigger own after \($0) on own referencing \($0 == "delete" ? "old" : "new") \
        table as \($0 == "delete" ? "old" : "new")_rows
        for each statement execute function quake.quake__record_\($0)()
        """
      }
      for statement in recorders + [
        "create trigger own after truncate on own execute function quake.quake__record_truncate()",
        """
        create trigger own after insert on own
        for each row execute function quake.change_pending__number()
        """,
        "insert into quake.quake_version (transaction_id, op) values (1, 'truncate')",
        "update quake.quake_version set place = 'forged'", "delete from quake.quake_version",
        "truncate quake.quake_version", "select * from quake.quake_version",
        "insert into quake.change_pending values (pg_current_xact_id(), 1, 1, 0, 0, 0)",
        "delete from quake.change_pending", "update quake.change_transaction set author = 'x'",
        "delete from quake.change_transaction", "select nextval('quake.token')",
        "select setval('quake.transaction_id', 1)", "select quake.change_pending__add(1, 0, 0, 0)",
        "truncate quake.quake", "alter table quake.quake disable trigger all",
        "set session_replication_role = replica",
      ] {
        let error = try #require(throws: PostgresError.self, "\(statement)") {
          try writer.run(statement)
        }
        #expect(error.sqlState == "42501", "\(statement): \(error)")
      }
    }
    #expect(
      try connection.historyLines() == [
        "1:0 insert a", "2:0 insert b", "3:0 update a {felt}", "4:0 delete b",
        "5:0 update a {felt}", "6:0 insert c",
      ])
    #expect(
      try connection.table("select distinct database_user from quake.change_transaction")
        == [role])
    try connection.run("drop owned by \(role)", "drop role \(role)")
    #expect(try connection.historyFaults() == [])
  }

  @Test(arguments: ServerVersion.usual)
  func triggerFunctionsOfTheHistoryServeNoOtherTables(_ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    defer { withExtendedLifetime(database) {} }
    for name in ["record_insert", "record_update", "record_delete", "record_truncate"] {
      let error = try #require(throws: PostgresError.self) {
        try connection.run("select quake.quake__\(name)()")
      }
      #expect(error.sqlState == "0A000")
    }
    #expect(try connection.historyLines() == [])
  }
}
