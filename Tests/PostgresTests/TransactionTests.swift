import Postgres
import TestSupport
import Testing

@Suite struct TransactionTests {
  private let database: TestDatabase
  private let connection: Connection
  private let other: Connection

  init() throws {
    database = try TestDatabase.empty()
    connection = try database.connect()
    other = try database.connect()
    try connection.run("create table public.t (a int primary key)")
  }

  private struct Stop: Error {}

  private func count() throws -> String? {
    try other.ask("select count(*) from public.t")
  }

  @Test func aTransactionIsRolledBackWhenItsBodyThrows() throws {
    #expect(throws: Stop.self) {
      try connection.transaction {
        try connection.run("insert into public.t values (1)")
        throw Stop()
      }
    }
    #expect(try count() == "0")
    #expect(try connection.ask("select pg_current_xact_id_if_assigned() is null") == "t")
  }

  @Test func aTransactionIsRolledBackAfterAServerErrorWhichIsRethrown() throws {
    let error = try #require(throws: PostgresError.self) {
      try connection.transaction {
        try connection.run("insert into public.t values (1)", "insert into public.t values (1)")
      }
    }
    #expect(error.sqlState == "23505")
    #expect(try count() == "0")
    #expect(try connection.ask("select 1") == "1")
  }

  @Test func aTransactionThatFailsAtItsCommitSaysSo() throws {
    try connection.run(
      "create table public.u (a int references public.t deferrable initially deferred)")
    let error = try #require(throws: PostgresError.self) {
      try connection.transaction { try connection.run("insert into public.u values (9)") }
    }
    #expect(error.sqlState == "23503")
    #expect(error.detail?.contains("not known") != true)
    #expect(try connection.ask("select count(*) from public.u") == "0")
  }

  @Test func aTransactionWithAnIgnoredErrorIsNotReportedAsCommitted() throws {
    #expect(throws: PostgresError.self) {
      try connection.transaction {
        try connection.run("insert into public.t values (1)")
        _ = try? connection.run("select nothing")
      }
    }
    #expect(try count() == "0")
    #expect(try connection.ask("select 1") == "1")
  }

  @Test func theOutcomeOfATransactionWhoseConnectionIsLostIsUnknown() throws {
    try connection.run(
      """
      create function public.suicide() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$
      """,
      """
      create constraint trigger t_suicide after insert on public.t deferrable initially deferred
        for each row execute function public.suicide()
      """)
    let error = try #require(throws: PostgresError.self) {
      try connection.transaction { try connection.run("insert into public.t values (1)") }
    }
    #expect(error.kind == .connection)
    #expect(error.detail?.contains("Whether the transaction was committed is not known.") == true)
    #expect(try count() == "0")
  }

  @Test func aTransactionHasTheRequestedIsolationAndAccessMode() throws {
    func modes(_ isolation: Connection.Isolation, readOnly: Bool) throws -> [String] {
      try connection.transaction(isolation, readOnly: readOnly) {
        try connection.table(
          """
          select current_setting('transaction_isolation'), current_setting('transaction_read_only')
          """)
      }
    }
    // Whatever the database's defaults are.
    try connection.run(
      "set default_transaction_isolation = serializable", "set default_transaction_read_only = on")
    #expect(try modes(.readCommitted, readOnly: false) == ["read committed|off"])
    #expect(try modes(.readCommitted, readOnly: true) == ["read committed|on"])
    #expect(try modes(.repeatableRead, readOnly: false) == ["repeatable read|off"])
    #expect(try modes(.repeatableRead, readOnly: true) == ["repeatable read|on"])
  }
}
