import Basics
import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

private let environment = ProcessInfo.processInfo.environment

/// The programs of a PostgreSQL that has failover slots.
private let programs = environment["QUAKE_PG18_BIN"].flatMap { $0.isEmpty ? nil : $0 }

/// Regions of a centre that fails over, while everything is killed: `QUAKE_SOAK_CHANGES` changes, by default 100,000, with
/// a failover after each tenth of them, or after each 10,000.
@Suite(
  .serialized,
  .enabled(if: Tools.isSoak && programs != nil, "make soak has it, and needs QUAKE_PG18_BIN"))
struct RegionSoakTests {
  private static let changes = environment["QUAKE_SOAK_CHANGES"].flatMap { Int($0) } ?? 100_000
  private static let failovers = min(10, max(1, changes / 10_000))
  private static let cursors = 100

  /// What is done between two failovers, each once.
  private enum Fault: CaseIterable {
    case disableSubscription, loseCentre, failWorker, endWorker, endSender
    case killRegion, stopRegion, killCentre, stopCentre
    case killWatchers, killServing
  }

  private let centre: CentrePair
  private let regions: [WatchedRegion]

  init() throws {
    let programs = try #require(programs)
    let centre = try CentrePair(binDirectory: programs)
    self.centre = centre
    try centre.connect().run(
      "insert into quake.quake (code, time, magnitude) values ('the beginning', now(), 9)")
    regions = try [
      ("eu", programs), ("asia", programs), ("africa", environment["QUAKE_PG_BIN"]),
    ].map { try WatchedRegion($0.0, of: centre.conninfo, binDirectory: $0.1) }
    try centre.waitForStandby(slots: regions.count)
  }

  @Test func everyRegionHasTheBytesOfItsCentreWhateverFails() throws {
    for region in regions { try region.watch() }
    let watchers = regions.flatMap(\.watchers)
    for watcher in watchers { try watcher.waitForToken(1, within: ToolProcess.patience) }

    var settings = Load.Settings(changes: .max)
    settings.writers = 6
    settings.largestBatch = 40
    settings.programs = 1
    settings.importedEvents = 100
    settings.importsChangeIDs = true
    let load = Load(settings, centre.conninfo, psql: try centre.primary.psqlPath)
    let cursors = MovingCursors(
      Self.cursors, over: regions.map(\.server.conninfo) + [centre.conninfo],
      along: regions[0].steady[0].recorder, load, changes: Self.changes,
      random: Seed.generator("cursors"))
    let begun = ContinuousClock.now
    do {
      try injectAll(load)
      try cursors.join()
    } catch {
      load.stop()
      try load.join()
      throw error
    }
    load.stop()
    try load.join()
    let written = ContinuousClock.now
    try centre.connect().run(
      "insert into quake.quake (code, time, magnitude) values ('the end', now(), 9)")
    try compare(load.log, cursors)
    print(
      "regions: \(load.log.committedChanges) changes with \(Self.failovers) failovers in",
      "\(written - begun), compared \(ContinuousClock.now - written) later;",
      "\(cursors.count) cursors, \(cursors.detours) detours")
  }

  // MARK: - Faults

  /// Does everything to the centre and its regions, spread over the changes.
  private func injectAll(_ load: Load) throws {
    var random = Seed.generator("regions")
    let step = Self.changes / (Self.failovers * (Fault.allCases.count + 1))
    for round in 0..<Self.failovers {
      for fault in Fault.allCases.shuffled(using: &random) {
        try waitForChanges(load, step)
        let region = regions.randomElement(using: &random) ?? regions[0]
        try inject(fault, region, load, using: &random)
      }
      try waitForChanges(load, step)
      load.log.noteCrash()
      try centre.failOver(slots: regions.count, rewinds: round.isMultiple(of: 2))
    }
    while load.log.committedChanges < Self.changes { try waitForChanges(load, step) }
  }

  /// Lets the writers commit so many changes more, and waits for the first half of them.
  private func waitForChanges(_ load: Load, _ count: Int) throws {
    let before = load.log.committedChanges
    load.allow(before + count)
    try eventually("half of \(count) changes are committed", within: .seconds(600)) {
      for region in regions { try region.keep() }
      return load.log.committedChanges >= before + count / 2
    }
  }

  /// Lets the writers go on for a while, up to what they are allowed.
  private func pause(_ load: Load) {
    let deadline = Deadline(after: .seconds(4))
    while !load.isHeldBack, !deadline.hasPassed { poll(nil, 0, 5) }
  }

  private func inject(
    _ fault: Fault, _ region: WatchedRegion, _ load: Load, using random: inout SeededGenerator
  ) throws {
    switch fault {
    case .disableSubscription:
      try region.server.connect().run("alter subscription \(region.slot) disable")
      pause(load)
      try region.server.connect().run("alter subscription \(region.slot) enable")
    case .loseCentre:
      try region.server.connect().run(
        "alter subscription \(region.slot) connection 'host=/nowhere dbname=quake'")
      pause(load)
      try region.create()
    case .failWorker:
      try region.server.connect().run(
        "alter table quake.quake add constraint refused check (code is null) not valid")
      pause(load)
      try region.server.connect().run("alter table quake.quake drop constraint refused")
    case .endWorker:
      try region.server.connect().run(
        "select pg_terminate_backend(pid) from pg_stat_subscription where pid is not null")
    case .endSender:
      try centre.connect().run(
        "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '\(region.slot)'"
      )
    case .killRegion:
      try region.server.killAll()
      try region.server.start()
    case .stopRegion:
      try region.server.stop(mode: .immediate)
      try region.server.start()
    case .killCentre:
      load.log.noteCrash()
      try centre.primary.killAll()
      try centre.primary.start()
    case .stopCentre:
      load.log.noteCrash()
      try centre.primary.stop(mode: .immediate)
      try centre.primary.start()
    case .killWatchers:
      for watcher in region.killed { try watcher.killAndRestart() }
    case .killServing: try region.restartServing()
    }
  }

  // MARK: - Comparison

  private func compare(_ log: WriterLog, _ cursors: MovingCursors) throws {
    let connection = try centre.connect()
    let history = try KnownHistory(over: connection)
    let last = try #require(history.changes.last).token
    #expect(history.changes.count >= Self.changes)
    for watcher in regions.flatMap(\.watchers) {
      try watcher.waitForToken(last, within: .seconds(900))
    }
    var oracle = ChangeOracle(history)
    let reference = try whole(centre.conninfo)
    var violations = oracle.judge(reference, of: "centre").violations
    try #require(violations.isEmpty, "\(violations)")
    oracle.takeContents(of: reference)
    // A server says less of a change than the database does.
    var streams = ChangeOracle(history)
    streams.takeContents(of: try stream(upTo: last))
    violations.add(try HistoryCheck.run(over: connection, log: log))
    violations.add(cursors.judge(oracle))
    let contents = try WatchedRegion.contents(of: centre.primary)
    for region in regions {
      for (watcher, oracle) in zip(region.watchers, [oracle, streams, oracle, streams]) {
        violations.add(watcher.judge(oracle))
      }
      let all = try whole(region.server.conninfo)
      violations.add(oracle.judge(all, of: region.name).violations)
      try region.stopWatching()
      #expect(try WatchedRegion.contents(of: region.server) == contents, "\(region.name)")
      try Tools.succeed("quake-query", ["verify", "-d", region.server.conninfo])
      try region.waitUntilWell()
    }
    #expect(violations.isEmpty, "QUAKE_SEED=\(Seed.value)\n\(violations)")
    #expect(cursors.count == Self.cursors)
  }

  /// All that a new watcher prints of a server of the centre.
  private func stream(upTo token: Int64) throws -> [FeedLine] {
    let server = try Tools.start(
      "quake-serve", ["--listen", "127.0.0.1:0", "--no-access-log", "-d", centre.conninfo])
    try server.waitForError("serving on http://127.0.0.1:")
    let url = try #require(
      server.errorText.firstMatch(of: #/serving on (http:\/\/127\.0\.0\.1:\d+)/#))
    let feed = try FeedProcess(String(url.1), ["--from-start"])
    try feed.waitForToken(token, within: .seconds(600))
    try feed.stop()
    return feed.recorder.lines
  }

  /// All that a new watcher prints of a history.
  private func whole(_ database: String) throws -> [FeedLine] {
    let feed = try FeedProcess(database, ["--no-follow", "--from-start"])
    let outcome = try feed.end(within: .seconds(600))
    try #require(outcome.status == 0, "\(outcome.errors)")
    return feed.recorder.lines
  }
}
