import TestSupport
import Testing

@testable import Postgres

@Suite struct StatementWatchTests {
  private let database: TestDatabase
  private let connection: Connection
  private let other: Connection

  init() throws {
    database = try TestDatabase.empty()
    connection = try database.connect(applicationName: "waits")
    other = try database.connect()
    try connection.run("create table public.t (a text primary key)")
  }

  private let stopped = PostgresError(
    kind: .interrupted, sqlState: SQLState.queryCanceled, message: "told to stop")

  /// Cancels each statement of `connection` that waits for a lock for longer than 20 ms; returns how often
  /// statements were examined.
  private func cancelWaits(wake: Int32? = nil, first: Duration = .milliseconds(20)) -> Tally {
    let tally = Tally()
    let (database, stopped) = (database, stopped)
    connection.watch = StatementWatch(first: first, wake: wake, afterWake: .milliseconds(10)) {
      processID throws(PostgresError) in
      tally.add(1)
      let isBlocked = try? database.connect().ask(
        "select cardinality(pg_blocking_pids($1)) > 0", [.integer(processID.map { Int64($0) })])
      if isBlocked == "t" { throw stopped }
      return .milliseconds(20)
    }
    return tally
  }

  private func expectStopped(_ body: () throws -> Void) throws {
    let error = try #require(throws: PostgresError.self) { try body() }
    #expect(error.message == "told to stop" && error.kind == .interrupted, "\(error)")
    #expect(error.detail == nil, "\(error)")
    #expect(connection.isIdle)
    #expect(try connection.ask("select 1") == "1")
  }

  @Test func aLongStatementIsExaminedAndContinues() throws {
    try other.run("select pg_advisory_lock(1)")
    let (other, tally) = (other, Tally())
    connection.answerTimeout = ToolProcess.patience
    connection.watch = StatementWatch(
      first: .milliseconds(20), wake: nil, afterWake: .milliseconds(10)
    ) { _ in
      tally.add(1)
      // The statement lasts until it is examined for the second time.
      if tally.total > 1 { _ = try? other.run("select pg_advisory_unlock(1)") }
      return .milliseconds(20)
    }
    #expect(try connection.ask("select pg_advisory_lock(1) is not null") == "t")
    #expect(tally.total > 1)
    #expect(try connection.ask("select 1") == "1")
  }

  @Test func aLongStatementThatIsCancelledLeavesTheConnectionUsable() throws {
    try other.begin()
    try other.run("lock table public.t")
    _ = cancelWaits()
    try expectStopped { try connection.run("insert into public.t values ('a')") }
    try expectStopped {
      try connection.transaction { try connection.run("insert into public.t values ('a')") }
    }
    try expectStopped { try connection.stream("select a from public.t") { _ in } }
    try other.rollback()
    try connection.run("insert into public.t values ('b')")
    #expect(try connection.table("select a from public.t") == ["b"])
  }

  @Test func aTransactionCancelledAtItsCommitIsKnownToBeRolledBack() throws {
    try connection.run(
      """
      create function public.at_commit() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(4711); return null; end $$
      """,
      """
      create constraint trigger at_commit after insert on public.t deferrable initially deferred
      for each row execute function public.at_commit()
      """)
    try other.run("select pg_advisory_lock(4711)")
    _ = cancelWaits()
    try expectStopped {
      try connection.transaction { try connection.run("insert into public.t values ('a')") }
    }
    #expect(try other.ask("select count(*) from public.t") == "0")
  }

  @Test func aCopyIsCancelledWhileTheServerReadsNothing() throws {
    try other.begin()
    try other.run("insert into public.t values ('row 7')")
    _ = cancelWaits()
    try expectStopped {
      try connection.copyIn("copy public.t from stdin (format binary)") { writer in
        for row in 0..<500_000 {
          try writer.beginRow(columnCount: 1)
          writer.values.text("row \(row)")
        }
      }
    }
    try other.rollback()
    #expect(try other.ask("select count(*) from public.t") == "0")
  }

  @Test func aLongStatementIsExaminedSoonAfterARequestToStop() throws {
    let wake = try Wake()
    let tally = cancelWaits(wake: wake.descriptor, first: .seconds(1000))
    try other.begin()
    try other.run("lock table public.t")
    wake.trigger()
    try expectStopped { try connection.run("insert into public.t values ('a')") }
    #expect(tally.total > 0)
    // A statement that does not wait is executed.
    try other.rollback()
    #expect(try connection.ask("select pg_sleep(0.1) is not null") == "t")
  }
}
