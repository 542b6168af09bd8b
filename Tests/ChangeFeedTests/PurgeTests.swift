import Foundation
import Postgres
import QuakeModel
import TestSupport
import Testing

/// A history that is purged while it is read.
@Suite(.serialized) struct PurgeTests {
  private static func purge(_ database: TestDatabase, before token: String) throws {
    try Tools.succeed(
      "quake-admin", ["history", "purge", "--yes", "--before", token] + database.option)
  }

  /// At the oldest valid token everything goes on as before; below it a watcher is told, or begins
  /// again with the right state.
  @Test func theFloorIsExact() throws {
    let database = try TestDatabase()
    var settings = Load.Settings(changes: 600)
    settings.writers = 4
    settings.largestBatch = 4
    settings.truncates = false
    let load = Load(settings, database.conninfo)
    try load.join()
    let connection = try database.connect()
    let history = try KnownHistory(over: connection)
    var oracle = ChangeOracle(history)
    let whole = try FeedProcess(
      database.conninfo, ["--from-start", "--no-follow"], recorder: FeedRecorder(checksValues: true)
    )
    try whole.end()
    oracle.takeContents(of: whole.recorder.lines)
    let tokens = try database.tokens()
    for floor in [tokens.count / 3, tokens.count - 1] {
      try Self.purge(database, before: tokens[floor])
      #expect(try connection.ask("select quake.oldest_token()") == tokens[floor])
      for index in [floor, floor + 1, tokens.count - 1] where index < tokens.count {
        let feed = try FeedProcess(
          database.conninfo, ["--no-follow", "--after", tokens[index]])
        #expect(try feed.end().status == 0)
        let place = try #require(HistoryCursor(tokens[index]))
        let verdict = oracle.judge(feed.recorder.lines, of: tokens[index], after: place)
        #expect(verdict.violations.isEmpty, "\(verdict.violations)")
      }
      for token in ["0", tokens[0], tokens[floor - 1]] {
        let feed = try FeedProcess(database.conninfo, ["--after", token])
        let outcome = try feed.end()
        #expect(outcome.status == 65 && outcome.errors.contains("has expired"), "\(outcome.errors)")
        #expect(outcome.errors.contains(tokens[floor]), "it names the oldest valid token")
        #expect(feed.recorder.lineCount == 0)
        let reset = try FeedProcess(
          database.conninfo, ["--after", token, "--on-expired", "snapshot", "--no-follow"],
          recorder: FeedRecorder(checksValues: true))
        #expect(try reset.end().status == 0)
        #expect(reset.recorder.lines.first?.kind == .reset)
        #expect(reset.recorder.lines.dropFirst().allSatisfy { $0.kind == .snapshot })
        #expect(reset.recorder.events == whole.recorder.events)
      }
    }
  }

  /// A purge every 200 ms, up to the newest token, while everybody writes and reads. The one with a
  /// name lags, and holds the floor at its own token; one without a name lags, and has to begin again.
  @Test func aPurgeUnderLaggingWatchersTakesNothingFromThem() throws {
    let database = try TestDatabase()
    let reference = try WatchedFeed(
      "reference", database.conninfo, cursorStore: .name("reference"),
      recorder: FeedRecorder(checksValues: true))
    let lagging = try WatchedFeed("lagging", database.conninfo, cursorStore: .name("lagging"))
    let nameless = try FeedProcess(
      database.conninfo, ["--from-start", "--on-expired", "snapshot"],
      recorder: FeedRecorder(checksValues: true))
    let nameless65 = try FeedProcess(database.conninfo, ["--from-start"])
    // A purge takes nothing from a watcher with a name, once it has begun. The nameless ones read something, and no
    // more until it is gone.
    let connection = try database.connect()
    try connection.run("insert into quake.quake (code, time) values ('the beginning', now())")
    for watcher in [reference, lagging] { try watcher.process.waitForLines(1) }
    for feed in [nameless, nameless65] {
      try feed.waitForLines(1)
      try feed.process.stop()
    }

    let load = Load(
      Load.Settings(changes: Tools.isSoak ? 200_000 : 10_000, writers: 8), database.conninfo)
    let isOver = Event()
    let purger = BackgroundThread {
      let connection = try database.connect()
      while !isOver.wait(within: .milliseconds(200)) {
        guard let token = try connection.ask("select quake.latest_token()") else { continue }
        try Self.purge(database, before: token)
      }
    }
    var lag = 0
    while !load.hasEnded {
      lag += 1
      lagging.process.setRead(lag.isMultiple(of: 2))
      let wanted = load.log.committedChanges + 2000
      while load.log.committedChanges < wanted, !load.hasEnded { poll(nil, 0, 5) }
    }
    lagging.process.setRead(true)
    try load.join()
    try connection.run("insert into quake.quake (code, time) values ('the end', now())")
    let last = try #require(
      Int64(try connection.ask("select max(token) from quake.change_transaction") ?? ""))
    for watcher in [reference, lagging] { try watcher.process.waitForToken(last) }
    // They have had it all, and hold nothing back any more.
    #expect(
      try connection.eventually(
        "(select token from quake.history_floor) > \(last / 2) and not exists (select from quake.watcher_lag where expired)"
      ))
    isOver.happen()
    try purger.join()
    for feed in [nameless, nameless65] { feed.process.signal(SIGCONT) }
    try nameless.waitForToken(last)
    let ending = try nameless65.end()
    #expect(ending.status == 65 && ending.errors.contains("has expired"), "\(ending.errors)")
    #expect(try nameless.stop().status == 0)
    for watcher in [reference, lagging] { #expect(try watcher.process.stop().status == 0) }

    // The tables do not hold the history any more; the reference has it, if it has as many changes as
    // were committed, one transaction after the other, and each event's values in one piece.
    let history = KnownHistory(reference.recorder.lines)
    #expect(history.changes.count == load.log.committedChanges + 2)
    #expect(
      zip(history.changes, history.changes.dropFirst()).allSatisfy { first, second in
        first.token < second.token
          || first.token == second.token && first.position + 1 == second.position
      })
    #expect(reference.recorder.valueFaults.isEmpty, "\(reference.recorder.valueFaults)")
    var oracle = ChangeOracle(history)
    oracle.takeContents(of: reference.recorder.lines)
    let violations = lagging.judge(oracle)
    #expect(violations.isEmpty, "\(violations)")
    try judgeReset(nameless.recorder, oracle, reference.recorder)
    let before = oracle.judge(nameless65.recorder.lines, of: "nameless", isWhole: false)
    #expect(before.violations.isEmpty, "\(before.violations)")
  }

  /// In order up to the reset; then a snapshot, and in order from there.
  private func judgeReset(
    _ recorder: FeedRecorder, _ oracle: ChangeOracle, _ reference: FeedRecorder
  ) throws {
    let lines = recorder.lines
    let reset = try #require(lines.firstIndex { $0.kind == .reset }, "it was not told")
    let before = oracle.judge(Array(lines[..<reset]), of: "before", isWhole: false)
    #expect(before.violations.isEmpty, "\(before.violations)")
    let end = lines[(reset + 1)...].firstIndex { $0.kind != .snapshot } ?? lines.endIndex
    let positions = lines[(reset + 1)..<end].map { Int($0.position) }
    #expect(positions == Array(0..<positions.count))
    let token = lines[reset]
    #expect(lines[reset..<end].allSatisfy { $0.token == token.token && $0.nonce == token.nonce })
    let place = try #require(token.changeToken)
    let after = oracle.judge(Array(lines[end...]), of: "after", after: HistoryCursor(token: place))
    #expect(after.violations.isEmpty, "\(after.violations)")
    #expect(recorder.valueFaults.isEmpty, "\(recorder.valueFaults)")
    #expect(recorder.events == reference.events)
  }
}
