import Basics
import Postgres
import TestSupport
import Testing

@Suite final class ErrorTests: EmptyDatabaseSuite {
  private func failure(_ statement: String) throws -> PostgresError {
    try #require(throws: PostgresError.self) { try connection.run(statement) }
  }

  @Test func aServerErrorHasItsStateConstraintTableAndDetail() throws {
    try connection.run(
      "create table public.t (a int constraint t_a_key unique, constraint t_a_positive check (a > 0))",
      "insert into public.t values (1)")
    let duplicate = try failure("insert into public.t values (1)")
    #expect(duplicate.kind == .server)
    #expect(duplicate.sqlState == "23505")
    #expect(duplicate.constraint == "t_a_key")
    #expect(duplicate.table == "public.t")
    #expect(duplicate.detail == "Key (a)=(1) already exists.")
    #expect(!duplicate.isConnectionLoss)
    let check = try failure("insert into public.t values (-1)")
    #expect(check.sqlState == "23514")
    #expect(check.constraint == "t_a_positive")
  }

  @Test func aServerThatEndsAnIdleSessionSaysWhy() throws {
    try connection.run("set idle_session_timeout = '1ms'")
    let error = try #require(throws: PostgresError.self) {
      while connection.wait(until: Deadline(after: ToolProcess.patience)) == .ready {
        _ = try connection.takeNotifications()
      }
    }
    #expect(error.kind == .connection)
    #expect(
      error.message
        == "lost the connection to the database: FATAL: terminating connection due to idle-session timeout"
    )
  }

  @Test func aLongServerErrorIsCut() throws {
    let error = try failure(
      "do $$ begin raise exception '%', repeat('x', 8000000) using detail = repeat('y', 100000); end $$"
    )
    #expect(error.message.utf8.count < 20_000 && error.message.hasSuffix("…"))
    #expect(error.detail.map { $0.utf8.count < 20_000 } == true)
  }

  @Test func aServerErrorHasItsLineAndPositionInCharacters() throws {
    let error = try failure("select 'é🌋',\n  1,\n  nothing\n")
    #expect(error.sqlState == "42703")
    #expect(error.line == 3)
    #expect(error.position == 21)
    #expect("\(error)".contains(", line 3"))
    let first = try failure("selct 1")
    #expect(first.line == 1)
    #expect(first.position == 1)
  }

  @Test func aServerErrorHasItsHintAndFunction() throws {
    let error = try failure(
      """
      do $$ begin
        raise 'bad' using errcode = 'QK999', detail = 'More.', hint = 'Do this.';
      end $$
      """)
    #expect(error.message == "bad")
    #expect(error.sqlState == "QK999")
    #expect(error.detail == "More.")
    #expect(error.hint == "Do this.")
    #expect(error.context?.contains("line 2 at RAISE") == true)
    #expect(error.line == nil)
    #expect("\(error)" == "bad (SQLSTATE QK999)\ndetail: More.\nhint: Do this.")
  }

  @Test func aServerErrorDoesNotContainTheParameters() throws {
    let error = try #require(throws: PostgresError.self) {
      try connection.execute("select $1::text, 1 / $2::int", [.text("s3cret"), .integer(0)])
    }
    #expect(error.sqlState == "22012")
    #expect(!"\(error)".contains("s3cret"))
  }

  @Test func anErrorIsAConnectionLossIfConnectingAgainMayHelp() {
    for (state, expected) in [
      ("40001", false), ("40P01", false), ("57P01", true), ("57P03", true), ("53300", true),
      ("08006", true), ("55P03", false), ("23505", false), ("42601", false), ("57014", false),
    ] {
      let error = PostgresError(kind: .server, sqlState: state, message: "")
      #expect(error.isConnectionLoss == expected, "\(state)")
    }
  }

  @Test func theServersEndOfAConnectionIsAConnectionLoss() throws {
    let other = try database.connect()
    #expect(
      try other.ask(
        "select pg_terminate_backend($1, 180000)", [.integer(Int64(connection.serverProcessID))])
        == "t")
    let error = try failure("select 1")
    #expect(error.kind == .connection)
    #expect(error.isConnectionLoss)
    // And stays so.
    #expect(try failure("select 1").kind == .connection)
    #expect(throws: PostgresError.self) { try connection.takeNotifications() }
  }
}
