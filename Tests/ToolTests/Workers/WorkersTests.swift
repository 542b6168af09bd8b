import EmbeddedPostgres
import Foundation
import Postgres
import QuakeModel
import QuakeSimulator
import TestSupport
import Testing

/// Several workers on one database.
@Suite final class WorkersTests: ToolSuite {
  private let names = ["all_hour", "all_day", "all_month"]
  /// The longest time that a takeover may take; beside other tests everything takes several times
  /// as long.
  private let takeover = Duration.seconds(Tools.isSoak ? 5 : 90)
  /// The longest time without a sign of life of a worker, in seconds. A busy machine may stop a worker for a while.
  private let silence = Tools.isSoak ? 2 : 10

  private func lively() throws -> (server: SimulatedFeedServer, feeds: [String]) {
    var options = SimulatorOptions()
    options.events = 300
    options.rate = 1200
    options.maxAge = 0
    let server = try SimulatedFeedServer(options)
    let feeds = try names.flatMap { name in
      ["--feed", "\(server.url(of: try #require(SummaryFeed(name: name))))@300ms"]
    }
    return (server, feeds)
  }

  /// Waits until each feed has been imported again.
  private func waitForProgress(_ scene: WorkerScene) throws {
    let before = try scene.importCounts()
    try eventually("every feed has been imported again") {
      let after = try scene.importCounts()
      return names.allSatisfy { after[$0, default: 0] > before[$0, default: 0] }
    }
  }

  /// Four kills, or with QUAKE_SOAK=1 as many as fit into a minute.
  @Test func killedHoldersAreReplacedAndNoSnapshotIsImportedTwice() throws {
    let (server, feeds) = try lively()
    defer { server.stop() }
    let scene = WorkerScene(database, feeds)
    for _ in 0..<3 { try scene.start() }
    _ = try scene.waitForHolders(of: names)
    let end = ContinuousClock.now + .seconds(60)
    var kills = 0
    while Tools.isSoak ? ContinuousClock.now < end : kills < 4 {
      // Every other worker is killed right after its takeover.
      if kills.isMultiple(of: 2) { try waitForProgress(scene) }
      let holders = try scene.waitForHolders(of: names)
      let victim = try #require(holders[names[kills % names.count]])
      let others = Set(scene.workers.keys).subtracting([victim])
      let killed = ContinuousClock.now
      try scene.kill(victim)
      let newHolders = try scene.waitForHolders(of: names, otherThan: victim, within: takeover)
      #expect(ContinuousClock.now - killed < takeover)
      #expect(others.isSuperset(of: newHolders.values))
      kills += 1
      try scene.start()
    }
    #expect(kills >= 4)
    try waitForProgress(scene)
    try scene.stop()
    #expect(try scene.repeatedImports() == [])
    #expect(try database.value("select bool_and(complete) from quake.import") == "t")
    #expect(try database.value("select count(*) from quake.feed where failures > 0") == "0")
    try eventually("no feed is held") {
      try database.value("select count(*) from quake.feed_status where held") == "0"
    }
  }

  /// Its server process is not idle then, but waits for a lock.
  @Test func aHolderKilledWithinAStatementIsReplacedToo() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 3).utf8))
    let scene = WorkerScene(database, ["--feed", "\(server.url)@1h"])
    let blocker = try database.connect()
    try blocker.run("begin", "lock table quake.quake in share mode")
    let first = try scene.start()
    #expect(try database.connect().waitUntilBlocked(applicationName: first))
    let second = try scene.start()
    try scene.worker(second).waitForError("standing by for all_day")
    try scene.kill(first)
    _ = try scene.waitForHolders(of: ["all_day"], otherThan: first, within: takeover)
    try blocker.run("rollback")
    try scene.worker(second).waitForError("3 inserted")
    try scene.stop()
    #expect(try database.count("quake.import") == 1)
  }

  @Test func aFeedOfTheSameNameAtAnotherAddressCausesAWarning() throws {
    let body = Array(Feeds.collection(count: 3).utf8)
    let (one, other) = (try ScriptedServer(body: body), try ScriptedServer(body: body))
    let first = try database.start("quake-ingest", ["run", "--feed", "\(one.url)@1h"])
    try first.waitForError("3 inserted")
    let second = try database.start("quake-ingest", ["run", "--feed", "\(other.url)@1h"])
    try second.waitForError("feed \"all_day\" is polled by another worker at another address")
    try second.waitForError(one.url)
    #expect(other.requests.isEmpty)
    for worker in [first, second] { try worker.end() }
  }

  @Test func theFeedsOfAWorkerThatEndsAreTakenOver() throws {
    let (server, feeds) = try lively()
    defer { server.stop() }
    let scene = WorkerScene(database, feeds)
    let first = try scene.start()
    _ = try scene.waitForHolders(of: names)
    let second = try scene.start()
    try scene.worker(second).waitForError("standing by for all_hour, all_day, all_month")
    try scene.worker(first).signal(SIGTERM)
    #expect(
      Set(try scene.waitForHolders(of: names, otherThan: first, within: takeover).values)
        == [second])
    try waitForProgress(scene)
    // Each feed is named once. The server may free one lock after the other.
    let standby = try scene.worker(second)
    try scene.stop()
    let taken = standby.errorText.split(separator: "\n").flatMap { line in
      line.components(separatedBy: "took over ").dropFirst().flatMap {
        $0.components(separatedBy: ", ")
      }
    }
    #expect(taken.sorted() == names.sorted(), "\(standby.errorText)")
    #expect(standby.errorText.components(separatedBy: "standing by").count == 2)
    #expect(try scene.repeatedImports() == [])
  }

  /// A worker that is stopped keeps its connection and its locks until another worker ends that
  /// connection.
  @Test func aPausedHolderIsReplacedAndDoesNoHarmWhenItContinues() throws {
    let (server, feeds) = try lively()
    defer { server.stop() }
    let scene = WorkerScene(database, feeds + ["--takeover-after", "\(silence)s"])
    let first = try scene.start()
    _ = try scene.waitForHolders(of: names)
    let second = try scene.start()
    for (paused, standby) in [(first, second), (second, first)] {
      try scene.worker(standby).waitForError("standing by for ")
      try waitForProgress(scene)
      try scene.pause(paused)
      let holders = try scene.waitForHolders(of: names, otherThan: paused)
      #expect(Set(holders.values) == [standby])
      try scene.worker(standby).waitForError("ended the connection of the worker that polled all_")
      try waitForProgress(scene)
      try scene.worker(paused).signal(SIGCONT)
      try scene.worker(paused).waitForError("lost the database: ")
      try scene.worker(paused).waitForError("connected to the database again")
      try waitForProgress(scene)
      #expect(Set(try scene.holders().values) == [standby])
    }
    try scene.stop()
    #expect(try scene.repeatedImports() == [])
  }

  /// A worker that is paused during an import is given more time. Then it is replaced, and its
  /// import is rolled back.
  @Test func theImportOfAPausedHolderIsRolledBack() throws {
    let body = Array(Feeds.collection(count: 2000).utf8)
    let server = try ScriptedServer(200, ["ETag: \"v1\""], body: body)
    let feed = ["--feed", "\(server.url)@1h"]
    // A proxy keeps rows from the server, so that the worker stays within its COPY.
    let proxy = try FaultyProxy(
      to: TestServer.shared.server.status().socketDirectory + "/.s.PGSQL.5432")
    let copy = proxy.hold("us1000")
    let first = try Tools.start(
      "quake-ingest",
      [
        "run", "--database",
        "\(proxy.conninfo(database: database.name, user: "quake")) application_name=first",
      ] + feed)
    try copy.isHeld.require("rows of the first worker")
    try first.stop()
    try eventually("it is stopped within the copy") {
      try database.sessions(
        of: "first", where: "query ilike 'copy%' and state = 'active' and wait_event = 'ClientRead'"
      ) == 1
    }
    // Within a COPY, a worker is given twenty times as long.
    let scene = WorkerScene(database, feed + ["--takeover-after", "500ms"])
    let second = try scene.start()
    _ = try scene.waitForHolders(of: ["all_day"], otherThan: "first")
    try scene.worker(second).waitForError("2,000 inserted")
    copy.mayPass.happen()
    first.signal(SIGCONT)
    // The worker notices when it sends data.
    try first.waitForError("lost the database: ")
    try first.waitForError("standing by for all_day")
    try first.end()
    try scene.stop()
    #expect(try database.count("quake.import") == 1)
    #expect(try database.value("select count(*) from quake.change_transaction") == "1")
    #expect(server.requests.count == 2)
  }

  /// While it downloads from a server that is slow, a worker shows that it is alive.
  @Test func aHolderThatWaitsForAServerIsNotReplaced() throws {
    let asked = Flag()
    let maySend = Tally()
    let body = Array(Feeds.collection(count: 3).utf8)
    let server = try ScriptedServer { _, client in
      client.send("HTTP/1.1 200 OK\r\n\r\n")
      asked.raise()
      // Blanks before the JSON: a server that sent nothing would be left after a while.
      while maySend.total == 0, client.send(" ") { poll(nil, 0, 50) }
      client.send(body)
    }
    let scene = WorkerScene(
      database, ["--feed", "\(server.url)@1h", "--takeover-after", "\(silence)s"])
    let first = try scene.start()
    try asked.wait()
    let second = try scene.start()
    try scene.worker(second).waitForError("standing by for all_day")
    // The second worker examines the first four times in the allowed silence, and goes on with that.
    let began = try database.value("select clock_timestamp()")
    try eventually("the second has worked when twice the time of an idle worker had passed") {
      try database.sessions(
        of: second, where: "query_start > '\(began)'::timestamptz + interval '\(2 * silence) s'")
        == 1
    }
    #expect(try scene.holders() == ["all_day": first])
    maySend.add(1)
    try scene.worker(first).waitForError("3 inserted")
    try scene.stop()
    #expect(server.requests.count == 1)
  }

  @Test func onceLeavesAFeedToTheWorkerThatPollsIt() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 3).utf8))
    let arguments = ["--feed", "\(server.url)@1h"]
    let scene = WorkerScene(database, arguments)
    let first = try scene.start()
    try scene.worker(first).waitForError("3 inserted")
    try database.run("quake-ingest", ["run", "--once"] + arguments).expect(
      75, "is polled by another worker", "quake-admin refresh all_day")
    // A dry run takes no lock.
    try database.succeed("quake-ingest", ["run", "--once", "--dry-run"] + arguments)
    try scene.stop()
    #expect(server.requests.count == 2)
    #expect(try database.count("quake.import") == 1)
  }

  @Test(.enabled(if: Pooler.program != nil, "pgbouncer is not installed"))
  func behindATransactionPoolItRefusesToRun() throws {
    let pool = try Pooler("transaction", for: database)
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 3).utf8))
    try Tools.run("quake-ingest", ["run", "--database", pool.conninfo, "--feed", server.url])
      .expect(77, "cannot hold the locks of feeds", "session mode")
    #expect(server.requests.isEmpty)
    try pool.stop()
  }
}
