import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import Basics

@Suite struct CommitLockTests {
  private func open(_ version: ServerVersion) throws -> (TestDatabase, Connection) {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    try connection.run(
      "do $$ begin create role quake_test_outsider login; exception when duplicate_object or unique_violation then null; end $$"
    )
    return (database, connection)
  }

  @Test(arguments: ["quake", ""], ServerVersion.present)
  func onlyTheOwnerCanTakeTheCommitLock(_ usage: String, _ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    if !usage.isEmpty { try connection.run("grant usage on schema quake to quake_test_outsider") }
    let outsider = try database.connect(as: "quake_test_outsider")
    for mode in [
      "access share", "row share", "row exclusive", "share update exclusive", "share",
      "share row exclusive", "exclusive", "access exclusive",
    ] {
      let error = try #require(throws: PostgresError.self) {
        try outsider.transaction {
          try outsider.run("lock table quake.commit_lock in \(mode) mode nowait")
        }
      }
      #expect(error.sqlState == "42501")
    }
  }

  @Test(arguments: ServerVersion.usual)
  func theCommitLockAndMaintenanceDoNotBlockEachOther(_ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    try connection.run("begin")
    try connection.insertQuakes("a")
    try connection.run("set constraints all immediate")
    // The lock is held now.
    let other = try database.connect()
    try other.run(
      "set lock_timeout = '5s'", "begin", "lock table quake.commit_lock in access share mode",
      "commit", "vacuum (skip_locked) quake.commit_lock", "analyze quake.quake")
    try connection.run("commit")
    try other.run("vacuum quake.commit_lock")
  }

  /// The trigger as it is when the notification queue is too full, which a test cannot bring about.
  private func pretendFullQueue(_ connection: Connection) throws {
    let definition = try #require(
      try connection.ask(
        "select pg_get_functiondef('quake.change_pending__number'::regproc)"))
    let parts = definition.split(separator: "pg_notification_queue_usage() < 0.25")
    try #require(parts.count == 2)
    try connection.execute(
      SQL(trusted: parts.joined(separator: "pg_notification_queue_usage() < 0")))
  }

  @Test(arguments: ServerVersion.usual)
  func aTransactionThatChangedEventsCannotBePrepared(_ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    for isFull in [false, true] {
      if isFull { try pretendFullQueue(connection) }
      let error = try #require(throws: PostgresError.self) {
        try connection.run(
          "begin", "insert into quake.quake (code, time) values ('p', now())",
          "prepare transaction '\(database.name)'")
      }
      #expect(error.sqlState == "0A000")
      try connection.run("rollback")
    }
    #expect(
      try connection.ask(
        "select count(*) from pg_prepared_xacts where database = current_database()") == "0")
    #expect(try connection.ask("select count(*) from quake.quake") == "0")
  }

  @Test(arguments: ServerVersion.usual)
  func aFullNotificationQueueCostsTheNotificationNotTheCommit(_ version: ServerVersion) throws {
    let (database, connection) = try open(version)
    let listener = try database.connect()
    try listener.run("listen quake_changes")
    try connection.insertQuakes("a")
    #expect(listener.wait(until: Deadline(after: ToolProcess.patience)) == .ready)
    #expect(try listener.takeNotifications().count == 1)
    try pretendFullQueue(connection)
    try connection.insertQuakes("b")
    try connection.run("notify quake_changes, 'last'")
    #expect(listener.wait(until: Deadline(after: ToolProcess.patience)) == .ready)
    #expect(try listener.takeNotifications().map(\.payload) == ["last"])
    #expect(try connection.latestToken().number == 2)
    #expect(try connection.historyFaults() == [])
  }
}
