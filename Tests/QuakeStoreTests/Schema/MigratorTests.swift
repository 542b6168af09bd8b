import Basics
import Glibc
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeSchema

@Suite final class MigratorTests: EmptyDatabaseSuite {
  private func migration(_ file: String, _ sql: String) throws -> Migration {
    try Migration(file: file, contents: Array(sql.utf8))
  }

  private func migrate(_ migrations: [Migration]) throws -> [Migrator.Entry] {
    try Migrator(connection: connection, migrations: migrations, program: "tests 1").migrate()
  }

  private func refusal(_ body: () throws -> Void) throws -> StoreError {
    let error = try #require(throws: StoreError.self) { try body() }
    guard case .schema = error.kind else {
      Issue.record("not of kind schema: \(error)")
      return error
    }
    #expect(error.hint != nil)
    return error
  }

  /// The errors of a program that only checks the schema, and of one that migrates.
  private func refusals() throws -> [StoreError] {
    [
      try refusal { try Migrator.checkSchema(of: connection) },
      try refusal { _ = try Migrator(connection: connection, program: "tests").migrate() },
    ]
  }

  @Test func migrationsBringAnEmptyDatabaseUpToDateAndAreRecorded() throws {
    let files = try Folder.migrations()
    let migrator = try Migrator(connection: connection, program: "tests 1")
    let before = try migrator.status()
    #expect(before.map(\.name) == files.map { String($0.name.dropFirst(5).dropLast(4)) })
    #expect(before.allSatisfy { $0.appliedAt == nil && $0.program == nil })
    let applied = try migrator.migrate()
    #expect(applied.map(\.version) == Array(1...files.count))
    #expect(
      try connection.table(
        "select version || '_' || name || ' ' || sha256 || ' ' || program from quake.migration")
        == files.enumerated().map { index, file in
          "\(index + 1)_\(file.name.dropFirst(5).dropLast(4)) \(try sha256(file.bytes)) tests 1"
        })
    #expect(try migrator.status().allSatisfy { $0.appliedAt != nil && $0.program == "tests 1" })
    try Migrator.checkSchema(of: connection)
  }

  private func sha256(_ bytes: [UInt8]) throws -> String {
    try #require(
      try connection.ask(
        "select encode(sha256(convert_to($1, 'UTF8')), 'hex')",
        [.text(String(decoding: bytes, as: UTF8.self))]))
  }

  @Test func migratingTwiceDoesNothingAndTakesNoLock() throws {
    let migrator = try Migrator(connection: connection, program: "tests 1")
    _ = try migrator.migrate()
    let ledger = try connection.table("select * from quake.migration")
    let other = try database.connect()
    try other.run("begin", "lock table quake.migration in share row exclusive mode")
    connection.answerTimeout = ToolProcess.patience
    #expect(try Migrator(connection: connection, program: "tests 2").migrate().isEmpty)
    #expect(try connection.table("select * from quake.migration") == ledger)
  }

  @Test func migrationsOfTwentySimultaneousProgramsAreAppliedOnce() throws {
    let database = database
    let count = try Folder.migrations().count
    let applied = Tally()
    try BackgroundThread.run(20) { number in
      let connection = try database.connect()
      applied.add(
        try Migrator(
          connection: connection, program: "program \(number)",
          patience: LockPatience(total: ToolProcess.patience)
        ).migrate().count)
    }
    #expect(applied.total == count)
    #expect(
      try connection.table("select version from quake.migration order by version")
        == (1...count).map(String.init))
    try Migrator.checkSchema(of: connection)
  }

  @Test func aFailedMigrationLeavesNothingAndNamesFileAndLine() throws {
    let good = try migration("0001_good.sql", "create table public.good ();")
    let bad = try migration(
      "0002_bad.sql", "create table public.half ();\n-- é\ncreate table public.bad (a nonsense);\n")
    let error = try refusal {
      do {
        _ = try migrate([good, bad])
      } catch let error as StoreError {
        // The server has no hint for this one.
        throw StoreError(error.kind, error.message, detail: error.detail, hint: error.hint ?? "")
      }
    }
    #expect(
      error.message
        == "could not apply migration: 0002_bad.sql:3: type \"nonsense\" does not exist")
    #expect(try connection.ask("select to_regclass('public.half') is null") == "t")
    #expect(try connection.table("select version from quake.migration") == ["1"])
    // It can be tried again, mended.
    #expect(
      try migrate([good, try migration("0002_bad.sql", "create table public.bad ();")]).count == 1)
  }

  @Test func aMigrationThatFailsWhileItRunsNamesItsLine() throws {
    let bad = try migration(
      "0001_bad.sql",
      """
      create table public.bad (a text);
      insert into public.bad values ('; -- '';'), ($x$ ; $x$); /* ; /* ; */ */

      -- the one that fails
      insert into public.bad
      values ((1 / (select count(*) - 2 from public.bad))::text);
      """)
    let error = try #require(throws: StoreError.self) { _ = try migrate([bad]) }
    #expect(error.message == "could not apply migration: 0001_bad.sql:5: division by zero")
  }

  @Test func aModifiedMigrationIsRefused() throws {
    _ = try migrate([try migration("0001_a.sql", "create table public.a ();")])
    let error = try refusal {
      _ = try migrate([try migration("0001_a.sql", "create table  public.a ();")])
    }
    #expect(error.message == "migration 0001_a was modified after it was applied")
    #expect(error.detail?.contains("tests 1") == true)
  }

  @Test func aMigrationWithAKnownChecksumIsNotSentToBeCompared() throws {
    func known(_ checksum: String) throws -> [Migration] {
      let text = Array("create table public.a ();".utf8)
      return [try Migration(file: "0001_a.sql", contents: text, sha256: checksum)]
    }
    _ = try migrate([try migration("0001_a.sql", "create table public.a ();")])
    let checksum = try #require(try connection.ask("select sha256 from quake.migration"))
    #expect(try migrate(try known(checksum)).isEmpty)
    let last = try database.connect().ask(
      "select query from pg_stat_activity where pid = \(connection.serverProcessID)")
    #expect(last?.contains("select version, name, sha256") == true, "\(last ?? "none")")
    let error = try refusal { _ = try migrate(try known("other")) }
    #expect(error.message == "migration 0001_a was modified after it was applied")
  }

  @Test func aMigrationThatTheDatabaseHasUnderAnotherNameIsRefused() throws {
    _ = try migrate([try migration("0001_a.sql", "create table public.a ();")])
    let error = try refusal {
      _ = try migrate([try migration("0001_b.sql", "create table public.a ();")])
    }
    #expect(
      error.message
        == "applied migration 1 \"a\" is missing from this program, which has \"b\"")
  }

  @Test func aDatabaseOfAnotherLineOfMigrationsIsRefused() throws {
    let names = try ["quake"] + (0..<Folder.migrations().count).map { "other\($0)" }
    _ = try migrate(
      names.enumerated().map { index, name in
        try migration(
          "\(String("000\(index + 1)".suffix(4)))_\(name).sql", "create table public.\(name) ();")
      })
    for error in try refusals() {
      #expect(
        error.message
          == "applied migration 1 \"quake\" is missing from this program, which has \"events\"")
      #expect(error.hint?.contains("before 0.1.0, the first release") == true)
    }
  }

  @Test func aDatabaseWithMoreMigrationsIsRefused() throws {
    let first = try migration("0001_a.sql", "create table public.a ();")
    _ = try migrate([first, try migration("0002_b.sql", "create table public.b ();")])
    let error = try refusal { _ = try migrate([first]) }
    #expect(
      error.message
        == "the database is newer than this program: its schema is at version 2, this program knows 1"
    )
  }

  // MARK: Programs that go on with a newer schema

  private func next(_ number: Int, _ script: String) throws -> Migration {
    try migration("\("000\(number)".suffix(4))_next\(number).sql", script)
  }

  @Test func anOlderProgramGoesOnIfTheLedgerLetsIt() throws {
    let embedded = try Migrator.embedded()
    let known = embedded.count
    let expand = try next(
      known + 1, "-- oldest schema: \(known)\nalter table quake.quake add column more text;")
    _ = try migrate(embedded + [expand])
    var told: [String] = []
    for _ in 0..<3 { try Migrator.checkSchema(of: connection) { told.append($0.message) } }
    try #require(told.count == 1, "\(told)")
    #expect(told[0].hasPrefix("this program is older than the schema of "), "\(told[0])")
    #expect(told[0].hasSuffix("at version \(known + 1), this program knows \(known)"), "\(told[0])")
    // It has nothing to migrate, and lists what the other has applied.
    #expect(try migrate(embedded).isEmpty)
    let entries = try Migrator(connection: connection, program: "tests").status()
    #expect(entries.last?.version == known + 1 && entries.last?.appliedAt != nil)
    // The release after that one needs programs of the one before it.
    _ = try migrate(
      embedded + [
        expand,
        try next(
          known + 2, "-- oldest schema: \(known + 1)\nalter table quake.quake drop column more;"),
      ])
    #expect(
      try refusal { try Migrator.checkSchema(of: connection) }.message
        .hasPrefix("the database is newer than this program"))
    _ = try refusal { _ = try migrate(embedded) }
  }

  @Test func aMigrationRunsInBatchesAndContinuesAfterAnInterruption() throws {
    try connection.run("create table public.a (key text primary key, more text)")
    try connection.run(
      "insert into public.a select to_char(n, 'FM0000') from generate_series(1, 1000) n")
    let fill = try migration(
      "0001_fill.sql",
      """
      -- in batches
      with batch as materialized (
        select key from public.a where key > coalesce($1, '') order by key limit 300
      ), changed as (
        update public.a a set more = 'x' || 1 / (1000 - a.key::integer + (select count(*) from public.mended))
          from batch b where a.key = b.key and a.more is null returning a.key
      )
      select max(b.key), (select count(*) from changed) from batch b
      """)
    let broken = try refusal {
      do {
        _ = try migrate([fill])
      } catch let error as StoreError {
        throw StoreError(error.kind, error.message, hint: error.hint ?? "")
      }
    }
    #expect(broken.message.contains("0001_fill.sql:5"), "\(broken.message)")
    try connection.run("create table public.mended ()")
    _ = try? migrate([fill])
    // The last row divides by zero, so three batches are done.
    #expect(try connection.ask("select count(more) from public.a") == "900")
    try connection.run("insert into public.mended default values")
    var rows: [Int64] = []
    let applied = try Migrator(
      connection: connection, migrations: [fill], program: "tests 1"
    ).migrate { if case .filled(_, let count) = $0 { rows.append(count) } }
    #expect(applied.map(\.name) == ["fill"])
    #expect(rows.last == 100 && rows.count == 5, "\(rows)")
    #expect(try connection.ask("select count(more) from public.a") == "1000")
    #expect(try migrate([fill]).isEmpty)
  }

  @Test func aMigrationInBatchesThatMakesNoProgressIsRefused() throws {
    let error = try #require(throws: StoreError.self) {
      _ = try migrate([
        try migration("0001_a.sql", "-- in batches\nselect coalesce($1, 'x'), 1")
      ])
    }
    #expect(error.message == "migration 0001_a.sql makes no progress: it returns the key x again")
    #expect(try connection.table("select * from quake.migration").isEmpty)
  }

  @Test func theFirstLinesOfAMigrationSayWhoGoesOn() throws {
    for (text, oldest, isInBatches) in [
      ("-- A comment.\nselect 1", nil, false), ("select 1\n-- oldest schema: 1", nil, false),
      ("-- A comment.\n-- oldest schema: 2\n--\n-- in batches\nselect 1", 2, true),
    ] as [(String, Int?, Bool)] {
      let migration = try migration("0003_a.sql", text)
      #expect(migration.oldestSchema == oldest && migration.isInBatches == isInBatches, "\(text)")
    }
    for line in [
      "-- oldest schema: 3", "-- oldest schema: 0", "-- oldest schema", "-- oldest: 1",
      "-- in batch", "-- in batches of 3",
    ] {
      #expect(try refusal { _ = try migration("0003_a.sql", line) }.message.contains(line))
    }
    // Programs from before migration 18 do not read the ledger's word, so no migration counts on it.
    for migration in try Migrator.embedded() {
      #expect(migration.oldestSchema.map { $0 >= 18 } != false, "\(migration.file)")
    }
  }

  @Test func aDatabaseThatLeftOutAMigrationIsRefused() throws {
    let all = try (1...3).map {
      try migration("000\($0)_m\($0).sql", "create table public.m\($0) ();")
    }
    _ = try migrate(all)
    try connection.run("delete from quake.migration where version = 2")
    let error = try refusal { _ = try migrate(all) }
    #expect(
      error.message
        == "gap in the applied migrations: 0002_m2 was never applied, a later one was")
  }

  @Test func duplicateAndMissingMigrationsOfAProgramAreRefused() throws {
    let first = try migration("0001_a.sql", "select 1")
    #expect(
      try refusal { _ = try migrate([first, try migration("0001_b.sql", "select 1")]) }.message
        == "duplicate migration: 0001_a.sql and 0001_b.sql")
    #expect(
      try refusal { _ = try migrate([first, try migration("0003_c.sql", "select 1")]) }.message
        == "gap in the migrations: 0003_c.sql follows number 1")
    #expect(try connection.ask("select to_regnamespace('quake') is null") == "t")
  }

  @Test func migrationFilesAreNamedByNumberAndName() throws {
    for file in [
      "1_a.sql", "0000_a.sql", "0001_.sql", "0001-a.sql", "0001_a.txt", "000١_a.sql", "",
    ] {
      _ = try refusal { _ = try migration(file, "select 1") }
    }
  }

  @Test func migrationFilesAreUTF8() throws {
    let error = try #require(throws: StoreError.self) {
      _ = try Migration(file: "0001_a.sql", contents: [0xFF])
    }
    #expect(error.message == "migration file \"0001_a.sql\" is not UTF-8")
  }

  @Test func theSchemaOfAnotherProgramIsRefused() throws {
    try connection.run(
      "create schema quake", "create table quake.migration (version int, name text)")
    for error in try refusals() { #expect(error.message.contains("is not that of Quake")) }
    try connection.run("drop table quake.migration")
    _ = try Migrator(connection: connection, program: "tests").migrate()
    try connection.run(
      "create foreign data wrapper other", "create server other foreign data wrapper other",
      "alter table quake.migration rename to old",
      "create foreign table quake.migration (version int, name text, sha256 text) server other")
    #expect(
      try refusal { try Migrator.checkSchema(of: connection) }.detail?.contains("foreign table")
        == true)
  }

  @Test func tablesWithoutTheirListOfMigrationsAreRefused() throws {
    _ = try Migrator(connection: connection, program: "tests").migrate()
    try connection.run("delete from quake.migration")
    for error in try refusals() {
      #expect(error.message.hasSuffix(" has tables, but an empty list of migrations"))
    }
  }

  @Test func whatIsNoFaultOfTheSchemaKeepsItsKind() throws {
    let full = try migration(
      "0001_full.sql", "do $$ begin raise 'no space' using errcode = 'disk_full'; end $$;")
    let error = try #require(throws: PostgresError.self) { try migrate([full]) }
    #expect(error.category == .unavailable && error.sqlState == "53100")
    #expect(error.message.hasPrefix("could not apply migration: 0001_full.sql:1: "), "\(error)")
  }

  /// A limit on transactions exists since version 17.
  @Test(arguments: ServerVersion.present)
  func aLimitOnItsTimeDoesNotStopAMigration(_ version: ServerVersion) throws {
    let setting = version == .main ? "statement_timeout" : "transaction_timeout"
    var limit = 20
    var applied: [Migrator.Entry] = []
    while applied.isEmpty {
      let database = try TestDatabase.empty(on: version.server)
      let connection = try database.connect()
      try connection.run("set \(setting) = \(limit)")
      let slow = try migration("0001_slow.sql", "select pg_sleep(\(limit * 5) / 1000.0);")
      do {
        applied = try Migrator(connection: connection, migrations: [slow], program: "tests")
          .migrate()
      } catch {
        // On a busy machine what a migrator asks before may take longer than the limit.
        limit *= 4
        try #require(limit < 2000, "\(error)")
      }
    }
    #expect(applied.count == 1)
  }

  @Test func aDatabaseWithAnEncodingWithoutTheCharactersOfFeedsIsRefused() throws {
    let name = "latin_\(database.name)"
    try connection.run("create database \(name) encoding 'LATIN1' locale 'C' template template0")
    defer { _ = try? connection.run("drop database \(name) with (force)") }
    let other = try Connection(
      ConnectionSettings("\(database.conninfo) dbname=\(name)", applicationName: "tests"))
    let error = try refusal { _ = try Migrator(connection: other, program: "tests").migrate() }
    #expect(error.message.contains("LATIN1"))
  }

  /// "quake-admin roles create" runs after the migrations, and programs of the release before are at work.
  @Test func rolesOfAnOlderSchemaMayStillReadTheHistoryAfterTheMigrations() throws {
    let migrations = try Migrator.embedded()
    let released = 20
    _ = try migrate(Array(migrations.prefix(released)))
    let role = "reader_\(database.name)"
    try connection.run(
      "create role \(role)", "grant usage on schema quake to \(role)",
      "grant select on all tables in schema quake to \(role)",
      "insert into quake.quake (code, time) values ('us1', now())")
    defer { _ = try? connection.run("reset role", "drop owned by \(role)", "drop role \(role)") }
    #expect(try migrate(migrations).count == migrations.count - released)
    try connection.run("set role \(role)")
    #expect(try connection.ask("select quake.token_at(now()) = quake.latest_token()") == "t")
    for function in [
      "as_of(now())", "as_of(quake.latest_token())", "as_of_feed(now())", "changes_since('0')",
      "difference('0', quake.latest_token())", "versions('us1')",
    ] {
      _ = try connection.ask("select count(*) from quake.\(function)")
    }
  }

  @Test func theMigrationsClearValuesThatNoOutputCanShow() throws {
    let migrations = try Migrator.embedded()
    _ = try migrate(Array(migrations.prefix(27)))
    try connection.run(
      """
      insert into quake.quake (code, time, rms, gap, first_stored) values
        ('us1', now(), 'NaN', 1, now()), ('us2', now(), 1, '-infinity', 'infinity'), ('us3', now(), 1, 1, '2024-01-01Z')
      """)
    _ = try migrate(migrations)
    let events = try connection.ask(
      """
      select string_agg(concat_ws(' ', code, rms, gap, first_stored < '10000-01-01Z'), ', ' order by code)
        from quake.quake
      """)
    #expect(events == "us1 1 t, us2 1 t, us3 1 1 t")
    let changed = try connection.ask(
      "select string_agg(code, ' ' order by code) from quake.quake_version where op = 'update'")
    #expect(changed == "us1 us2")
  }

  @Test func programsThatDoNotMigrateCheckTheSchema() throws {
    let absent = try refusal { try Migrator.checkSchema(of: connection) }
    #expect(absent.message.hasSuffix(" has no quake schema"))
    let count = try Folder.migrations().count
    _ = try Migrator(connection: connection, program: "tests").migrate()
    try connection.run("delete from quake.migration where version = \(count)")
    #expect(
      try refusal { try Migrator.checkSchema(of: connection) }.message
        .hasSuffix(" is at version \(count - 1), this program needs \(count)"))
    try connection.run("insert into quake.migration values (\(count + 1), 'x', 'x', now(), 'x')")
    #expect(
      try refusal { try Migrator.checkSchema(of: connection) }.message
        .hasPrefix("the database is newer than this program"))
  }

  /// A release adds the lines of its new migrations to `migrations/RELEASED`.
  @Test func releasedMigrationsAreNeverEdited() throws {
    let files = try Folder.migrations()
    let known = try Migrator.embedded().compactMap(\.sha256)
    let lines = try Folder.read("RELEASED")
      .split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines.count >= 5)
    #expect(known == lines.map { String($0.prefix(64)) })
    for (index, line) in lines.enumerated() {
      let words = line.split(separator: " ")
      try #require(words.count == 2, "not \"SHA-256  file\": \(line)")
      if index < files.count, files[index].name == words[1],
        try sha256(files[index].bytes) == words[0]
      {
        continue
      }
      Issue.record(
        """
        migrations/\(words[1]) is not as it was released. Databases have applied it: restore the \
        file, and put the change into a new migration with the next free number.
        """)
    }
  }

  @Test func theMigrationsInTheBinariesAreThoseOfTheFolder() throws {
    let files = try Folder.migrations()
    let embedded = try Migrator.embedded()
    #expect(files.count >= 2)
    #expect(embedded.map(\.file) == files.map(\.name))
    for (index, file) in files.enumerated() {
      #expect(Array(embedded[index].sql.text.utf8) == file.bytes, "\(file.name)")
      if let known = embedded[index].sha256 { #expect(try known == sha256(file.bytes)) }
      #expect(file.name.hasPrefix("000\(index + 1)".suffix(4)), "\(file.name)")
    }
  }
}
