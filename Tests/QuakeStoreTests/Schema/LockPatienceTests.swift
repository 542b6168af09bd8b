import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeSchema

@Suite struct LockPatienceTests {
  private let database: TestDatabase
  private let connection: Connection

  init() throws {
    database = try TestDatabase.empty()
    connection = try database.connect(applicationName: "migrator")
  }

  private func migrator(_ count: Int, _ patience: LockPatience) throws -> Migrator {
    try Migrator(
      connection: connection, migrations: Self.migrations(count), program: "tests",
      patience: patience)
  }

  private static func migrations(_ count: Int) throws -> [Migration] {
    try [
      "create table public.a (b integer);", "alter table public.a add column c integer;",
    ].prefix(count).enumerated().map { index, script in
      try Migration(file: "000\(index + 1)_m\(index).sql", contents: Array(script.utf8))
    }
  }

  /// A session that holds a lock that the second migration needs.
  private func reader() throws -> Connection {
    _ = try migrator(1, LockPatience()).migrate()
    let reader = try database.connect()
    try reader.begin()
    try reader.run("select * from public.a")
    return reader
  }

  @Test func migrationsDoNotWaitForLocksOfARoleThatMayOnlyConnect() throws {
    let other = try database.connect()
    try other.run("select pg_advisory_lock(x'7175616b6502'::bigint)")
    connection.answerTimeout = ToolProcess.patience
    #expect(try migrator(2, LockPatience()).migrate().count == 2)
  }

  @Test func migrationsWaitForLocksForAWhileAndAreRefusedThen() throws {
    let reader = try reader()
    let patience = LockPatience(
      timeout: .milliseconds(100), total: .milliseconds(500), lastWait: { "It waited for Godot." })
    let error = try #require(throws: StoreError.self) {
      _ = try migrator(2, patience).migrate()
    }
    #expect(error.kind == .locked)
    #expect(
      error.message
        == "could not apply migration 0002_m1.sql: another session holds a lock that it needs")
    #expect(error.detail == "It waited for Godot." && error.hint != nil)
    #expect(connection.isIdle)
    try reader.rollback()
    #expect(try migrator(2, patience).migrate().count == 1)
  }

  @Test func migrationsKeepNobodyWaitingBehindThemWhileTheyRetry() throws {
    let reader = try reader()
    let (database, holder) = (database, reader.serverProcessID)
    try BackgroundThread.run(2) { number in
      if number == 0 {
        let connection = try database.connect(applicationName: "waits")
        let patience = LockPatience(timeout: .seconds(1), total: ToolProcess.patience * 3)
        let migrator = try Migrator(
          connection: connection, migrations: Self.migrations(2), program: "tests",
          patience: patience)
        #expect(try migrator.migrate().count == 1)
      } else {
        let other = try database.connect()
        #expect(try other.waitUntilBlocked(applicationName: "waits"))
        // It queues behind the migration until that stops waiting; the reader continues all the time.
        other.answerTimeout = ToolProcess.patience
        for _ in 0..<5 { try other.run("select * from public.a") }
        try other.execute("select pg_terminate_backend($1)", [.integer(Int64(holder))])
      }
    }
    #expect(try connection.ask("select count(c) from public.a") == "0")
  }

  @Test func migrationsWaitForLocksUntilTheyAreToldToStop() throws {
    let reader = try reader()
    defer { withExtendedLifetime(reader) {} }
    let wake = try Wake()
    wake.trigger()
    let patience = LockPatience(
      timeout: .milliseconds(100), total: ToolProcess.patience, wake: wake.descriptor)
    let error = try #require(throws: PostgresError.self) {
      _ = try migrator(2, patience).migrate()
    }
    #expect(error.kind == .interrupted && error.sqlState == SQLState.queryCanceled)
    #expect(error.message.contains("0002_m1.sql"))
    #expect(connection.isIdle)
  }
}
