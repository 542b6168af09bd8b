import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// The state after a process was killed.
@Suite struct CrashTests {
  // MARK: The import

  /// An import that is killed at any moment has stored everything or nothing. The next run
  /// completes it.
  @Test func aKilledImportHasStoredEverythingOrNothing() throws {
    let events = Tools.isSoak ? 15_000 : 5000
    let folder = try TemporaryFolder()
    let file = folder.path + "/large.geojson"
    try Tools.succeed(
      "quake-ingest", ["simulate", "--events", "\(events)", "--output", file])
    func start(_ database: TestDatabase) throws -> ToolProcess {
      try Tools.start("quake-ingest", ["import", "--json", file] + database.option)
    }
    // The second import is measured: it finds in memory what the first reads from disk.
    var length = Duration.zero
    for _ in 1...2 {
      let trial = try TestDatabase()
      let begun = ContinuousClock.now
      #expect(try start(trial).exit().status == 0)
      length = ContinuousClock.now - begun
    }
    let rounds = Tools.isSoak ? 200 : 4
    var killed = 0
    var round = 0
    // On, until enough of them were killed before their end.
    while round < rounds || killed < max(2, rounds / 4) {
      let database = try TestDatabase()
      let before = try database.contents()
      let process = try start(database)
      // Spread over the duration of an import, so that most imports are killed before their end.
      let part = (Double(round % rounds) + Double.random(in: 0...1)) / Double(rounds)
      let instant = length * part
      let begun = ContinuousClock.now
      let whole = try? process.exit(within: instant)
      // Other tests may have slowed the imports that were measured.
      if whole != nil { length = min(length, ContinuousClock.now - begun) }
      round += 1
      process.signal(SIGKILL)
      let outcome = try whole ?? process.exit()
      try database.waitForNone("quake-ingest")
      let stored = try database.count("quake.quake")
      if outcome.ending == .killed(by: SIGKILL) {
        killed += 1
        if stored == 0 {
          #expect(try database.contents() == before, "after \(instant)")
        }
      }
      #expect(stored == 0 || stored == events, "\(stored) after \(instant)")
      #expect(try database.count("quake.change_transaction") == (stored == 0 ? 0 : 1))
      let next = try start(database).exit()
      #expect(next.status == 0, "\(next.errors)")
      let report = try JSONLine(#require(next.lines.first))
      #expect(report.integer("seen") == events)
      #expect(report.integer("inserted") == events - stored)
      #expect(report.integer("unchanged") == stored)
      #expect(try database.count("quake.quake") == events)
    }
  }

  // MARK: The server

  @Test func runAndWatchSurviveAServerThatIsKilledOrStopped() throws {
    let server = try ToolServer(isInitialised: true)
    let run = try server.start(
      "quake-ingest", ["run", "--feed", "simulated", "--every", "100ms"])
    try run.waitForError("token 1.")
    let watch = try server.start("quake-watch", ["--json", "--from-start"])
    var received = try watch.lines(2000).map { try JSONLine($0).change }
    for round in 1...2 {
      // While changes are being committed.
      received.append(try JSONLine(watch.line()).change)
      kill(try #require(server.embedded.status().pid), SIGKILL)
      try watch.waitForError("connected again", count: round)
      try run.waitForError("connected to the database again", count: round)
      received.append(try JSONLine(watch.line()).change)
    }
    // A server that was stopped on purpose is not started again by the tools. Both connect again
    // once it runs.
    #expect(try server.command("stop").status == 0)
    try watch.waitForError("lost the connection to the database", count: 3)
    try run.waitForError("lost the database", count: 3)
    #expect(try server.command("status").status == 1)
    #expect(try server.command("start").status == 0)
    try watch.waitForError("connected again", count: 3)
    try run.waitForError("connected to the database again", count: 3)
    received.append(try JSONLine(watch.line()).change)

    run.signal(SIGTERM)
    #expect(try run.exit().ending == .exited(0))
    let history = try server.psql(
      """
      select concat_ws(' ', token, position, op, coalesce(code, 'null'))
        from quake.changes_since('0')
      """)
    while received.count < history.count {
      received.append(try JSONLine(watch.line()).change)
    }
    watch.signal(SIGTERM)
    let outcome = try watch.exit()
    #expect(outcome.ending == .exited(0))
    #expect(outcome.output.isEmpty)
    #expect(received == history)
    #expect(history.count > 2003)
    // The table and the history have the same events.
    #expect(
      try server.psql(
        """
        select count(*) from (
          (select code, magnitude, time, as_of from quake.quake
           except select code, magnitude, time, as_of from quake.as_of(quake.latest_token()))
          union all
          (select code, magnitude, time, as_of from quake.as_of(quake.latest_token())
           except select code, magnitude, time, as_of from quake.quake)) d
        """) == ["0"])
  }
}

extension TestDatabase {
  /// Waits until no session of `application` is left.
  func waitForNone(_ application: String) throws {
    try eventually("the sessions of \(application) have ended") {
      try value(
        """
        select count(*) from pg_stat_activity
         where datname = current_database() and application_name = '\(application)'
        """) == "0"
    }
  }
}
