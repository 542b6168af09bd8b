import Postgres
import QuakeModel
import TestSupport
import Testing

/// A database whose clock goes back.
@Suite struct RewindTests {
  /// The time is only a member of a transaction; nothing is ordered by it.
  @Test func aClockThatIsSetBackDoesNotTouchTheOrder() throws {
    let database = try TestDatabase()
    try SQLMutation(
      name: "a clock that goes backwards",
      edits: [
        .init(
          function: "quake.change_pending__number", text: "clock_timestamp()",
          replacement: "'2030-01-01Z'::timestamptz - currval('quake.token') * interval '1 hour'")
      ]
    ).apply(to: database)
    let late = try LateCommitCheck.run(rounds: 20, in: database)
    #expect(late.isEmpty, "\(late)")
    let connection = try database.connect()
    #expect(
      try connection.ask(
        "select bool_and(at < before) from (select at, lag(at) over (order by token) as before from quake.change_transaction) t"
      )
        == "t")
    let oracle = ChangeOracle(try KnownHistory(over: connection))
    for token in try connection.table(
      """
      select token || '.' || nonce from quake.change_transaction where token % 12 = 0 order by token
      """)
    {
      let feed = try FeedProcess(database.conninfo, ["--no-follow", "--after", token])
      let outcome = try feed.end()
      #expect(outcome.status == 0, "\(outcome.errors)")
      let place = try #require(HistoryCursor(token))
      let verdict = oracle.judge(feed.recorder.lines, of: token, after: place)
      #expect(verdict.violations.isEmpty, "\(verdict.violations)")
    }
  }
}
