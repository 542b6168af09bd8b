import Postgres
import TestSupport
import Testing

@Suite struct StatementTests {
  private let database: TestDatabase
  private let connection: Connection

  init() throws {
    database = try TestDatabase.empty()
    connection = try database.connect()
  }

  @Test func aStatementTakesParametersOfEveryKindAndNull() throws {
    let result = try connection.execute(
      "select $1::text, $2::bigint, $3::double precision, $4::boolean, $5::text, $6::text[]",
      [
        .text("it's \"é\" \\ 🌋"), .integer(.min), .double(0.1), .bool(true), .null,
        .text("{a,\"b c\"}"),
      ])
    #expect(result.rowCount == 1)
    #expect(result.columnCount == 6)
    #expect(result.text(0, 0) == "it's \"é\" \\ 🌋")
    #expect(result.integer(0, 1) == Int64.min)
    #expect(result.text(0, 2) == "0.1")
    #expect(result.bool(0, 3) == true)
    #expect(result.isNull(0, 4) && result.text(0, 4) == nil && result.integer(0, 4) == nil)
    #expect(result.text(0, 5) == "{a,\"b c\"}")
  }

  @Test func anAbsentOptionalParameterIsNull() throws {
    let text: String? = nil
    let integer: Int64? = nil
    let result = try connection.execute(
      "select $1::text is null, $2::bigint is null", [.text(text), .integer(integer)])
    #expect(result.bool(0, 0) == true)
    #expect(result.bool(0, 1) == true)
  }

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

  @Test func everyTypeIsReadInTheBinaryFormat() throws {
    let result = try connection.execute(
      """
      select (-2)::smallint, (-3)::integer, (-4)::bigint, 4.56::double precision, true, false,
             'é'::text, '2000-01-01 00:00:01.5+00'::timestamptz, '1969-12-31 23:59:59Z'::timestamptz,
             null::bigint, null::double precision, null::boolean, null::timestamptz, ''::text
      """, format: .binary)
    #expect(result.binary(0, 0).integer == -2)
    #expect(result.binary(0, 1).integer == -3)
    #expect(result.binary(0, 2).integer == -4)
    #expect(result.binary(0, 3).double == 4.56)
    #expect(result.binary(0, 4).bool == true)
    #expect(result.binary(0, 5).bool == false)
    #expect(result.text(0, 6) == "é")
    #expect(result.binary(0, 7).timestamp == 946_684_801_500_000)
    #expect(result.binary(0, 8).timestamp == -1_000_000)
    #expect(result.binary(0, 9).integer == nil)
    #expect(result.binary(0, 10).double == nil)
    #expect(result.binary(0, 11).bool == nil)
    #expect(result.binary(0, 12).timestamp == nil)
    #expect(result.text(0, 13) == "" && !result.isNull(0, 13))
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

  @Test func arraysOfTextsAreRead() throws {
    let result = try connection.execute(
      """
      select '{}'::text[], array['a', '', 'é{,"}'], null::text[],
             array(select 'x' || i from generate_series(1, 1000) i)
      """, format: .binary)
    #expect(result.binary(0, 0).textArray == [])
    #expect(result.binary(0, 1).textArray == ["a", "", "é{,\"}"])
    #expect(result.binary(0, 2).textArray == nil)
    #expect(result.binary(0, 3).textArray == (1...1000).map { "x\($0)" })
  }

  @Test func aResultCountsTheChangedRows() throws {
    try connection.run("create table public.t (a int)")
    #expect(
      try connection.execute("insert into public.t select generate_series(1, 7)").affectedRows == 7)
    #expect(try connection.execute("update public.t set a = 0 where a > 4").affectedRows == 3)
    #expect(try connection.execute("delete from public.t where false").affectedRows == 0)
    #expect(try connection.execute("create table public.u ()").affectedRows == 0)
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

  @Test func aPreparedStatementSurvivesARollback() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try connection.transaction {
        try connection.executePrepared("select 1")
        throw Stop()
      }
    }
    #expect(try connection.executePrepared("select 1").integer(0, 0) == 1)
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
