import Postgres
import Testing

@Suite("A statement's text")
struct SQLTests {
  @Test("is that of the literal, and can be concatenated")
  func joined() {
    let first: SQL = "select 1"
    #expect((first + " as one").text == "select 1 as one")
    #expect(first + " as one" == SQL(trusted: "select 1 as one"))
    #expect(first != "select 2")
  }

  @Test("keeps characters beyond ASCII")
  func unicode() {
    let statement: SQL = "select 'é🌋'"
    #expect(statement.text == "select 'é🌋'")
  }
}
