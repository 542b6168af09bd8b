import Postgres
import Testing

@Suite struct SQLTests {
  @Test func statementsCanBeConcatenated() {
    let first: SQL = "select 1"
    #expect((first + " as one").text == "select 1 as one")
    #expect(first + " as one" == SQL(trusted: "select 1 as one"))
    #expect(first != "select 2")
  }

  @Test func aStatementKeepsCharactersBeyondASCII() {
    let statement: SQL = "select 'é🌋'"
    #expect(statement.text == "select 'é🌋'")
  }
}
