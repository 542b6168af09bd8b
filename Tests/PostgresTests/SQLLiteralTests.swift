import TestSupport
import Testing

@testable import Postgres

@Suite final class SQLLiteralTests: EmptyDatabaseSuite {
  private static let texts = [
    "", "a", "'", "''", "\\", "\\'", "'; drop table t; --", "$1", "$$", "$a$x$a$", "%", "_",
    "100 %",
    "é🌋", "a\nb\tc\u{1}\u{7F}", "E'\\x'", "\\\\", "\"quoted\"", "/* */", "-- x", "\u{FEFF}",
    "Pa\u{304}hala", "x\\", "'\\", "{\"a\":1}", "{a,b}",
  ]

  /// Also with the setting under which a backslash escapes in every text.
  @Test(arguments: ["on", "off"])
  func aLiteralOfATextIsThatText(conforming: String) throws {
    try connection.run("set standard_conforming_strings = \(conforming)")
    try connection.run("set escape_string_warning = off")
    for text in Self.texts + [String(repeating: "'\\", count: 50_000)] {
      let literal = try connection.literal(text: text)
      #expect(try connection.ask("select \(literal)") == text)
      #expect(try connection.ask("select \(literal)::text = $1", [.text(text)]) == "t")
    }
  }

  @Test func aLiteralWithANULIsRefused() throws {
    for text in ["\0", "a\0b", "a'\0; drop table t"] {
      let error = try #require(throws: PostgresError.self) { try connection.literal(text: text) }
      #expect(error.sqlState == "22021")
    }
  }

  @Test func aLiteralIsTheSameValueAsAParameter() throws {
    let values: [(Parameter, String)] =
      [0, 1, -1, .max, .min, 1 << 31, -(1 << 31) - 1].map { (.integer($0), "int8") }
      + [
        0, -0.0, 0.1, 1e300, -1e-300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .nan,
        .infinity, -.infinity,
        4.35, 1 / 3,
      ].map { (.double($0), "float8") }
      + [(.bool(true), "bool"), (.bool(false), "bool"), (.null, "text")]
    for (value, type) in values {
      let literal = try connection.literal(value)
      #expect(
        try connection.ask(
          """
          select (\(literal)::\(type) is not distinct from $1::\(type))
             and coalesce(\(literal)::\(type)::text, 'null') = coalesce($1::\(type)::text, 'null')
          """, [value]) == "t", "\(value)")
    }
  }

  @Test func aLiteralReplacesItsParameterAndNothingThatResemblesOne() throws {
    let text = "it's $1"
    let number: SQL = "\(-7)"
    let statement: SQL = "select '$1', \(text) || $$ $2 $$, \(sql: number) where\(sql: number)=1"
    #expect(
      try statement.filled { parameter throws(PostgresError) in try connection.literal(parameter) }
        .text == "select '$1',  'it''s $1' || $$ $2 $$,  '-7' where '-7'=1")
  }
}
