import TestSupport
import Testing

/// Transactions that are missing from the history, as in a copy of a database that was filled in two parts.
@Suite struct HistoryGapTests {
  private let database: TestDatabase

  init() throws {
    database = try TestDatabase()
    let connection = try database.connect()
    for number in 1...60 {
      try connection.run("insert into quake.quake (code, time) values ('e\(number)', now())")
    }
  }

  /// Removes transactions, and returns the tokens on both sides of the gap, and the last in it.
  private func removeTransactions(_ range: ClosedRange<Int>) throws -> (String, String, String) {
    let tokens = try database.column(
      "select token || '.' || nonce from quake.change_transaction order by token")
    try database.psql(
      """
      delete from quake.quake_version v using quake.change_transaction t
       where t.transaction_id = v.transaction_id
         and t.token between \(range.lowerBound) and \(range.upperBound);
      delete from quake.change_transaction
       where token between \(range.lowerBound) and \(range.upperBound);
      """)
    return (
      tokens[range.lowerBound - 2], tokens[range.upperBound], tokens[range.upperBound - 1]
    )
  }

  @Test func aGapEndsEveryReaderWithBothEnds() throws {
    let server = try ServerProcess(database)
    let (before, after, last) = try removeTransactions(21...40)
    let detail = "The next transaction here, \(after), names \(last) as the one before it."
    let database = database.option
    for (tool, arguments, printed) in [
      ("quake-watch", ["--from-start", "--no-follow", "--json"] + database, 20),
      ("quake-watch", ["--from-start", "--json"] + database, 20),
      ("quake-watch", ["--from-start", "--json", "--url", server.url], 20),
      ("quake-query", ["history", "--json"] + database, 0),
      ("quake-query", ["history", "--transactions", "--json"] + database, 0),
      ("quake-query", ["diff", "0"] + database, 0),
    ] {
      let outcome = try Tools.start(tool, arguments).exit()
      #expect(outcome.status == 65, "\(tool) \(arguments): \(outcome.errors)")
      #expect(outcome.lines.count == printed, "\(tool) \(arguments)")
      #expect(
        outcome.errors.contains("error: history diverged at token \(before)"), "\(outcome.errors)")
      #expect(outcome.errors.contains(detail), "\(outcome.errors)")
    }
    // What does not reach over the gap is read.
    for arguments in [["--after", after], ["--from-start", "--up-to", before]] {
      let outcome = try Tools.run("quake-watch", arguments + ["--no-follow", "--json"] + database)
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
  }

  @Test func verifyPrintsEachGap() throws {
    let whole = try Tools.run("quake-query", ["verify"] + database.option)
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(whole.output.hasSuffix(": nothing is missing\n"), "\(whole.output)")
    let (before, after, last) = try removeTransactions(11...12)
    try database.psql(
      """
      delete from quake.quake_version v using quake.change_transaction t
       where t.transaction_id = v.transaction_id and t.token = 30;
      """)
    let outcome = try Tools.run("quake-query", ["verify"] + database.option)
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("error: history diverged in 2 places"), "\(outcome.errors)")
    try #require(outcome.lines.count == 3, "\(outcome.output)")
    #expect(
      outcome.lines[0]
        == "after \(before): the next transaction, \(after), names \(last) as the one before it")
    #expect(outcome.lines[1].hasSuffix(": the transaction had 1 change, the history holds 0"))
    #expect(outcome.lines[2].hasSuffix(": 2 gaps"), "\(outcome.lines[2])")
    let json = try Tools.run("quake-query", ["verify", "--json"] + database.option)
    let lines = try json.lines.map(JSONLine.init)
    try #require(lines.count == 3)
    #expect(lines[0].string("after") == before && lines[0].string("token") == after)
    #expect(lines[0].string("predecessor") == last)
    #expect(lines[1].integer("changes") == 1 && lines[1].integer("held") == 0)
    #expect(lines[2].integer("transactions") == 58 && lines[2].integer("gaps") == 2)
  }
}
