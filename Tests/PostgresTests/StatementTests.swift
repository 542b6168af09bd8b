import Postgres
import TestSupport
import Testing

@Suite final class StatementTests: EmptyDatabaseSuite {

  @Test func aDoubleComesBackAsItWasSent() throws {
    for value in [0.1, -0.0, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity] {
      let result = try connection.execute(
        "select $1::double precision", [.double(value)], format: .binary)
      #expect(result.binary(0, 0).double?.bitPattern == value.bitPattern)
    }
    let result = try connection.execute(
      "select $1::double precision", [.double(.nan)], format: .binary)
    #expect(result.binary(0, 0).double?.isNaN == true)
  }

  @Test func instantsKeepTheirOrderUpToTheInfiniteOnes() throws {
    let result = try connection.execute(
      """
      select '-infinity'::timestamptz, '4713-01-01 BC'::timestamptz,
             '294276-12-31 23:59:59.999999Z'::timestamptz, 'infinity'::timestamptz
      """, format: .binary)
    let instants = (0..<4).compactMap { result.binary(0, $0).timestamp }
    #expect(instants.count == 4)
    #expect(instants == instants.sorted())
    #expect(instants.first == .min)
    #expect(instants.last == .max)
  }

  @Test func aStatementIsPreparedOnceAndAgainAfterAFailure() throws {
    for number in 1...3 {
      let result = try connection.executePrepared("select $1::int + 1", [.integer(Int64(number))])
      #expect(result.integer(0, 0) == Int64(number) + 1)
    }
    #expect(try connection.ask("select count(*) from pg_prepared_statements") == "1")
    // A table that is not there yet.
    for _ in 0..<2 {
      let error = try #require(throws: PostgresError.self) {
        try connection.executePrepared("select count(*) from public.later")
      }
      #expect(error.sqlState == "42P01")
    }
    try connection.run("create table public.later ()")
    #expect(try connection.executePrepared("select count(*) from public.later").integer(0, 0) == 0)
    #expect(try connection.executePrepared("select 'other'").text(0, 0) == "other")
    #expect(try connection.ask("select count(*) from pg_prepared_statements") == "3")
  }

  @Test func aScriptRunsToItsEndOrNotAtAll() throws {
    try connection.executeScript("create table public.a (); create table public.b ();")
    #expect(try connection.ask("select to_regclass('public.b') is not null") == "t")
    let error = try #require(throws: PostgresError.self) {
      try connection.executeScript(
        """
        create table public.c ();
        create table public.d ();
        select * from nowhere;
        create table public.e ();
        """)
    }
    #expect(error.sqlState == "42P01")
    #expect(error.line == 3)
    #expect(
      try connection.ask(
        "select to_regclass('public.c') is null and to_regclass('public.e') is null") == "t")
    try connection.executeScript("")
    try connection.executeScript("-- nothing")
  }

  /// The connection would otherwise wait for data, or for a reader, for ever.
  @Test func executeRefusesCopyAndTheConnectionStaysUsable() throws {
    try connection.run("create table public.t (a int)")
    for statement in [
      "copy public.t from stdin", "copy (select generate_series(1, 100000)) to stdout",
    ] {
      let error = try #require(throws: PostgresError.self) { try connection.run(statement) }
      #expect(error.kind == .server)
      #expect(try connection.ask("select 1") == "1")
    }
  }
}
