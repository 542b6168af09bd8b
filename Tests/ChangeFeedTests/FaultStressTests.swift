import EmbeddedPostgres
import Foundation
import Postgres
import QuakeModel
import TestSupport
import Testing

/// Everything at once: writers, watchers, faults.
@Suite(.serialized) struct FaultStressTests {
  private static let changes = Tools.isSoak ? 1_000_000 : 12_000

  @Test func nothingIsLostRepeatedOrReorderedUnderFaults() throws {
    let folder = try TemporaryFolder()
    let server = try OwnServer()
    let proxy = try FaultyProxy(to: server.socketPath, seed: Seed.value)
    let remote = proxy.conninfo(database: "quake", user: "quake")
    let here = server.conninfo
    try server.connect().run(
      "insert into quake.quake (code, time, magnitude) values ('the beginning', now(), 9)")
    let beats = ["--heartbeat", "500ms"]

    let copy = open(folder.path + "/feed", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    let reference = try WatchedFeed(
      "reference", here, beats, recorder: FeedRecorder(checksValues: true, copy: copy))
    let filtered = try WatchedFeed("magnitude", here, beats, filter: FeedFilters.magnitude)
    let operations = try WatchedFeed("operations", here, beats, filter: FeedFilters.operations)
    let withFile = try WatchedFeed(
      "state file", here, cursorStore: .file(folder.path + "/cursor"))
    let withFileFiltered = try WatchedFeed(
      "state file, author", here, beats, filter: FeedFilters.author,
      cursorStore: .file(folder.path + "/cursor-author"))
    let distant = try WatchedFeed("proxy", remote)
    let distantNamed = try WatchedFeed(
      "proxy, box, name", remote, beats, filter: FeedFilters.box, cursorStore: .name("box"))
    let stopped = try WatchedFeed("stopped", here)
    let unread = try WatchedFeed("unread", here, beats, filter: FeedFilters.place)
    let watchers = [
      reference, filtered, operations, withFile, withFileFiltered, distant, distantNamed, stopped,
      unread,
    ]
    // A watcher that finds no server when it begins ends. So the first fault waits until each watcher has printed the
    // first change, or, where its filter does not pass that, a heartbeat.
    for watcher in watchers { try watcher.waitForToken(1, within: ToolProcess.patience) }

    var settings = Load.Settings(changes: Self.changes)
    settings.leastCommits = 401
    settings.leastRollbacks = 51
    settings.programs = 2
    settings.leavesOpen = true
    settings.importedEvents = 500
    let begun = ContinuousClock.now
    let load = Load(settings, here, psql: try server.server.psqlPath)
    let injector = FaultInjector(
      server: server, proxy: proxy,
      watchers: .init(
        withFile: [withFile, withFileFiltered], withName: [distantNamed],
        stopped: [stopped, distant], unread: [unread]), log: load.log,
      pause: min(Self.changes, 100_000) / 20, random: Seed.generator("faults"))
    var random = Seed.generator("deck")
    let deck = Fault.deck(times: max(1, Self.changes / 100_000), using: &random)
    do {
      try injector.run(deck, until: Self.changes) { load.hasEnded }
    } catch {
      load.stop()
      try load.join()
      throw error
    }
    try load.join()
    let written = ContinuousClock.now

    // Everybody comes to the end: by a change, or, where a filter lets the last ones not through, by
    // a heartbeat.
    let connection = try injector.connect()
    try connection.run(
      "insert into quake.quake (code, time, magnitude) values ('the end', now(), 9)")
    let history = try KnownHistory(over: connection, filters: FeedFilters.all)
    let last = try #require(history.changes.last)
    for watcher in watchers {
      do {
        try watcher.waitForToken(last.token, within: .seconds(300))
      } catch {
        Issue.record("\(watcher.name): \(error)")
      }
    }
    let delivered = ContinuousClock.now
    for watcher in watchers {
      let outcome = try watcher.process.stop()
      #expect(outcome.ending == .exited(0), "\(watcher.name): \(outcome.errors)")
    }

    // The order, of all of them; the contents, of one, and that the others say the same.
    var oracle = ChangeOracle(history)
    var violations = reference.judge(oracle)
    try #require(violations.isEmpty, "\(violations)")
    oracle.takeContents(of: reference.recorder.lines)
    for watcher in watchers.dropFirst() { violations.add(watcher.judge(oracle)) }
    for fault in reference.recorder.valueFaults { violations.add(.wrongOld, fault) }
    violations.add(try HistoryCheck.run(over: connection, log: load.log))
    close(copy)
    let comparison = try HistoryComparison(connection, file: folder.path + "/feed")
    for wrong in try comparison.wrongChanges() { violations.add(.wrongContents, wrong) }
    for (token, table) in injector.kept + [(last.token, "quake.quake")] {
      for wrong in try comparison.wrongStates(of: table, at: token) {
        violations.add(.wrongState, "\(table) at \(token): \(wrong)")
      }
      let name = try #require(
        try connection.ask(
          "select token || '.' || nonce from quake.change_transaction where token = \(token)"))
      for wrong in try comparison.wrongStates(of: "quake.as_of('\(name)')", at: token) {
        violations.add(.wrongState, "as of \(token): \(wrong)")
      }
    }
    #expect(violations.isEmpty, "QUAKE_SEED=\(Seed.value)\n\(violations)")
    let verify = try Tools.run("quake-query", ["verify", "--database", here])
    #expect(verify.status == 0, "\(verify.output)\(verify.errors)")

    // The run had enough changes, every fault, and enough rollbacks and commits.
    #expect(history.changes.count >= Self.changes)
    #expect(Set(injector.done.keys) == Set(Fault.allCases))
    #expect(load.log.count(.rolledBack) > 50 && load.log.count(.committed) > 400)
    for watcher in [withFile, withFileFiltered, distantNamed] { #expect(watcher.runCount > 1) }
    // Each of the two watchers behind the proxy lost its first connection at the first cut, if not sooner.
    #expect(proxy.acceptedCount >= 4)
    let judged = ContinuousClock.now
    print(
      """
      stress: \(history.changes.count) changes in \(history.starts.count) transactions, \
      \(load.log.count(.rolledBack)) rolled back, \(load.log.count(.commitFailed)) failed at their commit; \
      \(deck.count) faults; written in \(written - begun), delivered \(delivered - written) later, judged in \
      \(judged - delivered)
      """)
  }
}
