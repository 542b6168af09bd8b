import Postgres
import QuakeModel
import TestSupport
import Testing

/// From every token the rest of the history, and nothing else.
@Suite struct ResumeTests {
  @Test func everyTokenAndEveryPlaceWithinATransactionResumesExactly() throws {
    let database = try TestDatabase()
    var settings = Load.Settings(changes: Tools.isSoak ? 400 : 150)
    settings.writers = 4
    settings.largestBatch = 5
    let load = Load(settings, database.conninfo)
    try load.join()
    let history = try KnownHistory(over: database.connect())
    let oracle = ChangeOracle(history)
    let folder = try TemporaryFolder()
    let tokens = try database.tokens()
    #expect(tokens.count > 10)
    for token in ["0"] + tokens {
      let place = try #require(HistoryCursor(token))
      let feed = try FeedProcess(database.conninfo, ["--no-follow", "--after", token])
      #expect(try feed.end().ending == .exited(0))
      let verdict = oracle.judge(feed.recorder.lines, of: token, after: place)
      #expect(verdict.violations.isEmpty, "\(verdict.violations)")
    }
    // A state file may name a place within a transaction.
    for change in history.changes.filter({ $0.position == 2 }).prefix(8) {
      let token = try #require(tokens.first { $0.hasPrefix("\(change.token).") })
      let place = "\(token) 2"
      let file = try folder.write("cursor", place + "\n")
      let feed = try FeedProcess(database.conninfo, ["--no-follow", "--state", file])
      #expect(try feed.end().ending == .exited(0))
      let verdict = oracle.judge(
        feed.recorder.lines, of: place, after: try #require(HistoryCursor(place)))
      #expect(verdict.violations.isEmpty, "\(verdict.violations)")
    }
  }

  @Test func aWriterThatBeganFirstAndCommitsLastIsAlwaysDelivered() throws {
    let rounds = Tools.isSoak ? 20_000 : 150
    let database = try TestDatabase()
    let violations = try LateCommitCheck.run(rounds: rounds, in: database)
    #expect(violations.isEmpty, "\(violations)")
    #expect(
      try database.count("quake.change_transaction") == rounds * LateCommitCheck.transactions)
  }
}
