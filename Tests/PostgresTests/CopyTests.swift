import Postgres
import TestSupport
import Testing

@Suite final class CopyTests: EmptyDatabaseSuite {
  private static let statement: SQL = "copy public.t from stdin (format binary)"

  override init() throws {
    try super.init()
    try connection.run(
      """
      create table public.t (a text, b smallint, c integer, d bigint, e double precision, f timestamptz,
        g boolean)
      """)
  }

  private struct Stop: Error {}

  private func writeRow(_ writer: inout CopyWriter, text: String) throws {
    try writer.beginRow(columnCount: 7)
    writer.values.text(text)
    for _ in 0..<6 { writer.values.null() }
  }

  @Test func copyInWritesEveryTypeAndNull() throws {
    let count = try connection.copyIn(Self.statement) { writer in
      try writer.beginRow(columnCount: 7)
      writer.values.text("é \"\\\n\t🌋")
      writer.values.int2(.min)
      writer.values.int4(.min)
      writer.values.int8(.min)
      writer.values.float8(-0.1)
      writer.values.timestamp(microseconds: -1)
      writer.values.bool(true)
      try writer.beginRow(columnCount: 7)
      writer.values.text("")
      writer.values.int2(.max)
      writer.values.int4(.max)
      writer.values.int8(.max)
      writer.values.float8(.nan)
      writer.values.timestamp(microseconds: 946_684_800_000_000)
      writer.values.bool(false)
      try writer.beginRow(columnCount: 7)
      for _ in 0..<7 { writer.values.null() }
    }
    #expect(count == 3)
    #expect(
      try connection.table(
        "select a, b, c, d, e, f at time zone 'utc', g, num_nulls(a, b, c, d, e, f, g) from public.t"
      ) == [
        "é \"\\\n\t🌋|-32768|-2147483648|-9223372036854775808|-0.1|1969-12-31 23:59:59.999999|t|0",
        "|32767|2147483647|9223372036854775807|NaN|2000-01-01 00:00:00|f|0", "|||||||7",
      ])
  }

  @Test func copiedValuesCanBeComparedWithThoseOfARowByteForByte() throws {
    var values = CopyValues()
    values.null()  // what is before the range does not count
    let start = values.count
    values.text("é")
    values.null()
    values.text("")
    values.float8(0)
    values.int4(7)
    values.timestamp(microseconds: -1)
    let row = [
      "'é'::text", "null::text", "''::text", "0::float8", "7",
      "'1969-12-31T23:59:59.999999Z'::timestamptz",
    ]
    func isEqual(_ row: [String]) throws -> Bool {
      let result = try connection.execute(
        SQL(trusted: "select 'before', \(row.joined(separator: ", "))"), format: .binary)
      return values.isEqual(start..<values.count, to: result, row: 0, from: 1, count: row.count)
    }
    #expect(try isEqual(row))
    for (column, other) in [
      (0, "'e'::text"), (0, "'éé'::text"), (0, "null::text"), (1, "''::text"), (2, "null::text"),
      // Numerically equal, but with other bytes.
      (3, "'-0'::float8"), (4, "8"), (5, "'1970-01-01T00:00:00Z'::timestamptz"),
    ] {
      var different = row
      different[column] = other
      #expect(try !isEqual(different), "\(other)")
    }
  }

  @Test func copyInWritesTextsShorterAndLongerThanItsBuffer() throws {
    // Around the buffer's 128 KiB, less the row's and the field's own bytes, and far over it.
    let sizes =
      [0, 1, 131_040, 131_041, 131_045, 131_049, 131_053, 131_066, 131_067, 131_068]
      + [131_069, 131_070, 131_071, 131_072, 131_073, 5, 1_000_000, 300_000, 0, 262_144, 7]
    try connection.copyIn(Self.statement) { writer in
      for size in sizes { try writeRow(&writer, text: String(repeating: "é", count: size / 2)) }
    }
    #expect(
      try connection.table("select length(a), a = repeat('é', length(a)) from public.t")
        == sizes.map { "\($0 / 2)|t" })
  }

  @Test func copyInWhoseBodyThrowsLeavesNothing() throws {
    #expect(throws: Stop.self) {
      try connection.copyIn(Self.statement) { writer in
        for _ in 0..<10_000 { try writeRow(&writer, text: "some text that fills the buffer") }
        throw Stop()
      }
    }
    #expect(try connection.ask("select count(*) from public.t") == "0")
    #expect(try connection.copyIn(Self.statement) { try writeRow(&$0, text: "x") } == 1)
  }

  /// A source may itself read from PostgreSQL.
  @Test func copyInPassesOnAnErrorOfAnotherConnection() throws {
    let other = try database.connect()
    let error = try #require(throws: PostgresError.self) {
      try connection.copyIn(Self.statement) { _ in try other.run("select nothing") }
    }
    #expect(error.sqlState == "42703")
    #expect(try connection.ask("select 1") == "1")
  }

  @Test func copyInReportsInvalidData() throws {
    try connection.run("alter table public.t add constraint t_a_short check (length(a) < 5)")
    let error = try #require(throws: PostgresError.self) {
      try connection.copyIn(Self.statement) { writer in
        // The server has refused the first row long before the last is sent.
        for _ in 0..<20_000 { try writeRow(&writer, text: "too long a text") }
      }
    }
    #expect(error.kind == .server)
    #expect(error.constraint == "t_a_short")
    #expect(try connection.ask("select count(*) from public.t") == "0")
  }

  @Test func copyInReportsAnErrorInItsStatement() throws {
    let error = try #require(throws: PostgresError.self) {
      try connection.copyIn("copy nowhere from stdin (format binary)") { _ in
        Issue.record("there is nothing to write to")
      }
    }
    #expect(error.kind == .server)
    #expect(error.sqlState == "42P01")
    #expect(try connection.ask("select 1") == "1")
  }

  @Test(arguments: [
    ("select 1", "the statement is not a COPY from the client"),
    ("copy public.t to stdout", "COPY to the client is not supported"),
  ])
  func copyInRefusesOtherStatements(statement: String, message: String) throws {
    let error = try #require(throws: PostgresError.self) {
      try connection.copyIn(SQL(trusted: statement)) { _ in }
    }
    #expect(error.kind == .server)
    #expect(error.message == message)
    #expect(try connection.ask("select 1") == "1")
  }

  @Test func copyInEndsWithTheConnection() throws {
    let other = try database.connect()
    let pid = Int64(connection.serverProcessID)
    let error = try #require(throws: PostgresError.self) {
      try connection.copyIn(Self.statement) { writer in
        try writeRow(&writer, text: "x")
        #expect(try other.ask("select pg_terminate_backend($1, 180000)", [.integer(pid)]) == "t")
        for _ in 0..<100_000 { try writeRow(&writer, text: "some text that fills the buffer") }
      }
    }
    #expect(error.kind == .connection)
    #expect(try other.ask("select count(*) from public.t") == "0")
  }
}
