import EmbeddedPostgres
import Foundation
import QuakeStore
import TestSupport
import Testing

/// What programs do when a standby takes the place of its primary.
@Suite struct FailoverTests {
  private let servers: ReplicatedServers
  /// Both hosts, the old primary first.
  private let both: String

  init() throws {
    servers = try ReplicatedServers()
    let hosts = try [servers.primary, servers.standby].map { try $0.status().socketDirectory }
    both =
      "\(servers.primary.conninfo) host=\(hosts.joined(separator: ",")) target_session_attrs=read-write"
  }

  /// Commits an event at the new primary, which the watcher and the server get.
  private func commit(_ code: String, _ watch: ToolProcess, _ server: ServerProcess) throws {
    try servers.standby.insert(code)
    #expect(try JSONLine(watch.line()).string("code") == code)
    try eventually("the server follows the new primary") {
      try server.get("/v1/quakes/\(code)").status == 200
    }
  }

  private func endSessions() throws {
    try servers.ask(
      servers.standby,
      """
      select pg_terminate_backend(pid, 60000) from pg_stat_activity
       where application_name like 'quake-%' and pid <> pg_backend_pid()
      """)
  }

  /// The old primary starts again as a primary, because nothing fenced it, and comes first in the URL.
  @Test func programsThatSawTheNewPrimaryDoNotGoBack() async throws {
    try servers.primary.insert("a")
    let feed = try ScriptedServer(body: Array(Feeds.collection(count: 4).utf8))
    let worker = try Tools.start("quake-ingest", ["run", "--feed", "\(feed.url)@1h", "-d", both])
    try worker.waitForError("4 inserted")
    let watch = try Tools.start("quake-watch", ["-d", both, "--json"])
    try watch.waitForError("watching after")
    let server = try ServerProcess(["-d", both])
    let words = "is the primary from before a failover"
    let refusals = Tally()
    let library = QuakeDatabase(both, applicationName: "tests") { event in
      if event.message.contains(words) { refusals.add(1) }
    }
    let newest = try servers.ask(servers.primary, "select quake.latest_token()")
    try eventually("the standby has caught up") {
      try servers.ask(servers.standby, "select quake.latest_token()") == newest
    }
    try servers.primary.stop(mode: .immediate)
    try servers.promote()
    try worker.waitForError("connected to the database again")
    try commit("b", watch, server)
    #expect(try await library.event("b") != nil)

    try servers.primary.start()
    // Both histories are complete up to here, and the same.
    try endSessions()
    for process in [worker, watch, server.process] { try process.waitForError(words) }
    try servers.primary.insert("lost")
    try commit("c", watch, server)
    #expect(try server.get("/v1/quakes/lost").status == 404)
    #expect(try await library.event("lost") == nil)
    #expect(try await library.event("c") != nil)
    // Once, and not for each connection.
    #expect(refusals.total == 1)
    try eventually("the worker is connected to the new primary") {
      try servers.ask(
        servers.standby,
        "select count(*) from pg_stat_activity where application_name = 'quake-ingest'") != "0"
    }
    for process in [worker, watch, server.process] { try process.end() }
  }

  /// They were connected to the standby before it was promoted, and stayed connected.
  @Test func programsThatSawThePromotionDoNotGoBack() throws {
    let url = both.replacing("read-write", with: "prefer-standby")
    let watch = try Tools.start("quake-watch", ["-d", url, "--json"])
    try watch.waitForError("watching after")
    let server = try ServerProcess(["-d", url])
    try servers.primary.stop(mode: .immediate)
    try servers.promote()
    try watch.waitForError("listening for notifications again")
    try commit("a", watch, server)

    try servers.primary.start()
    try servers.primary.insert("lost")
    try endSessions()
    for process in [watch, server.process] {
      try process.waitForError("is the primary from before a failover")
    }
    try commit("b", watch, server)
    #expect(try server.get("/v1/quakes/lost").status == 404)
    for process in [watch, server.process] { try process.end() }
  }

  /// A standby is promoted that has not received the last transactions of its primary.
  @Test func namedWatchersNameWhatAFailoverHasLost() throws {
    let folder = try TemporaryFolder()
    func watch(_ name: String, _ arguments: [String]) throws -> ToolProcess {
      try Tools.start(
        "quake-watch", ["-d", both, "--json", "--name", name, "--from-start"] + arguments,
        environment: ["XDG_STATE_HOME": folder.path])
    }
    // One watcher runs all the time, the other one only in between.
    let running = try watch("running", ["--on-expired", "snapshot"])
    try servers.primary.insert("a")
    #expect(try JSONLine(running.line()).string("code") == "a")
    #expect(try watch("other", ["--no-follow"]).exit().lines.count == 1)
    try eventually("the standby has both cursors") {
      try servers.ask(
        servers.standby, "select count(*) from quake.watcher where token = 1") == "2"
    }
    try servers.standby.stop(mode: .immediate)
    for code in ["b", "c"] { try servers.primary.insert(code) }
    let told = try servers.ask(
      servers.primary,
      "select string_agg(token || '.' || nonce, ', ' order by token) from quake.change_transaction where token > 1"
    )
    #expect(try running.lines(2).count == 2)
    #expect(try watch("other", ["--no-follow"]).exit().lines.count == 2)

    try servers.primary.stop(mode: .immediate)
    try servers.standby.start()
    try servers.promote()
    let words = "Transactions \(told), which this watcher has delivered, are not in this history"
    let lines = try running.lines(2).map(JSONLine.init)
    #expect(lines.map { $0.string("op") } == ["reset", "snapshot"])
    #expect(running.errorText.contains(words), "\(running.errorText)")
    try watch("other", ["--no-follow"]).exit().expect(65, words)
    try running.end()
  }
}
