import Postgres
import TestSupport
import Testing

private let oddTexts = [
  "", "'", "''; drop table public.t; --", "\\'", "$1", "$$", "\"", "a\nb", "é🌋", "{a,b}", "%",
]

@Suite final class InterpolationTests: EmptyDatabaseSuite {
  @Test(arguments: oddTexts)
  func textsAreBoundWhateverTheyContain(text: String) throws {
    let row = try connection.row(
      "select \(text)::text, length(\(text)), '$1'", as: (String, Int, String).self)
    #expect(row == (text, text.unicodeScalars.count, "$1"))
  }

  @Test(arguments: [Connection.Format.text, .binary])
  func valuesOfEveryKindAndNullAreBound(format: Connection.Format) throws {
    let missing: Int64? = nil
    let row = try connection.row(
      """
      select \(Int64.min)::bigint, \(0.1)::double precision, \(true), \(missing)::bigint,
             \(-7 as Int32)::integer, \(nil as String?)::text
      """, format: format, as: (Int64, Double, Bool, Int64?, Int, String?).self)
    #expect(row == (.min, 0.1, true, nil, -7, nil))
  }

  @Test(arguments: [Connection.Format.text, .binary])
  func arraysAreBound(format: Connection.Format) throws {
    let (texts, numbers, gaps, none) = try connection.row(
      """
      select \(oddTexts)::text[], \([3, -4])::bigint[], \(["NULL", nil, "a"])::text[],
             \([] as [Int])::bigint[]
      """, format: format, as: ([String], [Int], [String?], [Int]).self)
    #expect(texts == oddTexts)
    #expect(numbers == [3, -4])
    #expect(gaps == ["NULL", nil, "a"])
    #expect(none == [])
    #expect(try connection.row("select 2 = any (\([1, 2]))", as: Bool.self))
  }

  @Test func otherStatementsAreSplicedWithTheirValuesAndNamesWithTheirQuotes() throws {
    let name = "odd \"name\"; --"
    try connection.execute("create table public.\(identifier: name) (\(identifier: name) int)")
    let condition: SQL = "\(identifier: name) > \(1)"
    try connection.execute("insert into public.\(identifier: name) values (1), (\(2)), (\(3))")
    #expect(
      try connection.rows(
        "select * from public.\(identifier: name) where \(sql: condition) order by 1", as: Int.self)
        == [2, 3])
  }

  @Test func aTextWithANULIsRefused() throws {
    let error = try #require(throws: PostgresError.self) {
      try connection.execute("select \("a\0b")::text")
    }
    #expect(error.sqlState == SQLState.characterNotInRepertoire)
    #expect(try connection.row("select 1", as: Int.self) == 1)
  }
}

@Suite final class SQLRowTests: EmptyDatabaseSuite {
  @Test(arguments: [Connection.Format.text, .binary])
  func rowsAreReadByTheNamesOfTheirColumns(format: Connection.Format) throws {
    let rows = try connection.rows(
      "select i as number, 'n' || i as name, nullif(i, 2) as other from generate_series(1, 3) i",
      format: format
    ) { row throws(PostgresError) -> (String, Int, Int64?) in
      (try row["name"], try row["number"], try row["other"])
    }
    #expect(rows.map(\.0) == ["n1", "n2", "n3"])
    #expect(rows.map(\.1) == [1, 2, 3])
    #expect(rows.map(\.2) == [1, nil, 3])
  }

  private func expectUnreadable(_ message: String, _ body: () throws -> Void) throws {
    let error = try #require(throws: PostgresError.self) { try body() }
    #expect(error.kind == .unreadable)
    #expect(error.message == message)
    #expect(error.statement?.hasPrefix("select") == true)
    #expect(try connection.row("select 1", as: Int.self) == 1)
  }

  @Test func rowsThatAreNotAsExpectedAreAnErrorWithTheColumnAndTheStatement() throws {
    try expectUnreadable("column \"a\" is null") {
      _ = try connection.rows("select null::int as a", as: Int.self)
    }
    try expectUnreadable("column \"a\" has a value of another type") {
      _ = try connection.firstRow("select 'x' as a", as: Int?.self)
    }
    try expectUnreadable("column \"a\" has a value of another type") {
      _ = try connection.row("select 40000 as a", format: .binary, as: Int16.self)
    }
    try expectUnreadable("the statement returns 3 columns, not 2") {
      _ = try connection.rows("select 1, 2, 3 where false", as: (Int, Int).self)
    }
    try expectUnreadable("the statement returns no column \"b\"") {
      _ = try connection.rows("select 1 as a") { row throws(PostgresError) -> Int in try row["b"] }
    }
    try expectUnreadable("the statement returns no row") {
      _ = try connection.row("select 1 where false", as: Int.self)
    }
    #expect(try connection.firstRow("select 1 where false", as: Int.self) == nil)
  }

  @Test func rowsArriveOneByOne() throws {
    struct Stop: Error {}
    var sum = 0
    try connection.forEachRow("select i as number from generate_series(1, 1000) i") { row in
      sum += try row["number"]
    }
    #expect(sum == 500_500)
    #expect(throws: Stop.self) {
      try connection.forEachRow("select i from generate_series(1, 100000) i") { _ in throw Stop() }
    }
    try expectUnreadable("column \"a\" is null") {
      try connection.forEachRow("select null::int as a") { row in let _: Int = try row["a"] }
    }
  }
}
