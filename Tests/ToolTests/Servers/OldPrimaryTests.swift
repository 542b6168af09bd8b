import EmbeddedPostgres
import Foundation
import QuakeStore
import TestSupport
import Testing

/// After a failover the old primary starts again as a primary, because nothing fenced it, and comes first in the URL.
@Suite struct OldPrimaryTests {
  private let servers: ReplicatedServers
  /// Both hosts, the old primary first.
  private let both: String

  init() throws {
    servers = try ReplicatedServers()
    let hosts = try [servers.primary, servers.standby].map { try $0.status().socketDirectory }
    both =
      "\(servers.primary.conninfo) host=\(hosts.joined(separator: ",")) target_session_attrs=read-write"
  }

  private func insert(_ code: String, _ server: EmbeddedServer) throws {
    try server.ask("insert into quake.quake (code, time) values ('\(code)', now())")
  }

  @Test func programsThatSawTheNewPrimaryDoNotGoBack() async throws {
    try insert("a", servers.primary)
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
    try insert("b", servers.standby)
    #expect(try JSONLine(watch.line()).string("code") == "b")
    try eventually("the server follows the new primary") {
      try server.get("/v1/quakes/b").status == 200
    }
    #expect(try await library.event("b") != nil)

    try servers.primary.start()
    // Both histories are complete up to here, and the same.
    try servers.ask(
      servers.standby,
      """
      select pg_terminate_backend(pid, 60000) from pg_stat_activity
       where application_name like 'quake-%' and pid <> pg_backend_pid()
      """)
    for process in [worker, watch, server.process] { try process.waitForError(words) }
    try insert("lost", servers.primary)
    try insert("c", servers.standby)
    #expect(try JSONLine(watch.line()).string("code") == "c")
    try eventually("the server follows the new primary") {
      try server.get("/v1/quakes/c").status == 200
    }
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
    for process in [worker, watch, server.process] {
      process.signal(SIGTERM)
      #expect(try process.exit().status == 0)
    }
  }
}
