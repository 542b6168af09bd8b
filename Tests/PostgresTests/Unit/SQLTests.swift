import Testing

@testable import Postgres

@Suite struct SQLTests {
  @Test func parametersAreNumberedFromTheFirstToTheLastAlsoThoseOfAPart() {
    let condition: SQL = "a = \(1) or b = \("x")"
    let statement: SQL = "select \(true) from t where (\(sql: condition)) and c = \(nil as Int?)"
    #expect(statement.text == "select $1 from t where (a = $2 or b = $3) and c = $4")
    #expect(statement.parameters.map(\.textForm) == ["t", "1", "x", nil])
  }

  @Test func aPartHasItsParametersOnceHoweverOftenItIsRepeated() {
    let limit: SQL = "\(5)::int8"
    let statement: SQL = "a > \(sql: limit) and b = \("x") and c > \(sql: limit) and d > \(5)"
    #expect(statement.text == "a > $1::int8 and b = $2 and c > $1::int8 and d > $3")
    #expect(statement.parameters.map(\.textForm) == ["5", "x", "5"])
  }

  @Test func anIdentifierIsQuoted() {
    let name = "a\"; drop table \0t; --"
    #expect(SQL("table \(identifier: name)").text == "table \"a\"\"; drop table t; --\"")
  }
}
