import Postgres
import TestSupport
import Testing

@Suite final class PrefetchTests: EmptyDatabaseSuite {
  @Test func aPrefetchedAnswerIsKeptUntilAnotherIsPrefetched() throws {
    let first = try connection.prefetch("select 1")
    #expect(try connection.execute("select 10").integer(0, 0) == 10)
    let answer = try connection.takePrefetched(first)
    #expect(answer?.integer(0, 0) == 1)
    let again = try connection.takePrefetched(first)
    #expect(again?.integer(0, 0) == nil, "it is taken")

    let second = try connection.prefetch("select 2")
    let third = try connection.prefetch("select 3")
    let lost = try connection.takePrefetched(second)
    #expect(lost?.integer(0, 0) == nil, "another one was sent since")
    let last = try connection.takePrefetched(third)
    #expect(last?.integer(0, 0) == 3)
  }

  @Test func aPrefetchedStatementThatFailsThrowsWhenItsAnswerIsTaken() throws {
    let ticket = try connection.prefetch("select 1 / 0")
    #expect(try connection.execute("select 10").integer(0, 0) == 10)
    let error = try #require(throws: PostgresError.self) {
      _ = try connection.takePrefetched(ticket)
    }
    #expect(error.sqlState == "22012")
  }
}
