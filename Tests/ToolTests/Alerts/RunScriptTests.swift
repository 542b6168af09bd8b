import Foundation
import TestSupport
import Testing

/// `make run`: `deploy/run.sh`.
@Suite(.serialized) struct RunScriptTests {
  private func start(_ feed: String, _ environment: [String: String]) throws -> ToolProcess {
    try ToolProcess(
      "/bin/bash", [Tools.package + "/deploy/run.sh", Tools.folder, feed],
      environment: Tools.environment.merging(environment) { $1 })
  }

  /// Simulated events get a store of their own, whatever database a file of settings names.
  @Test func simulatedEventsHaveAStoreOfTheirOwn() throws {
    let server = try ToolServer("server-simulated")
    let settings = try server.folder.write("config", "database = dbname=elsewhere host=/nowhere\n")
    let run = try start(
      "simulated",
      [
        // The script adds "-simulated".
        "QUAKE_SERVER_HOME": String(server.home.dropLast("-simulated".count)),
        "QUAKE_SYSTEM_CONFIG": settings,
      ])
    defer { run.signal(SIGTERM) }
    let lines = try run.lines(4)
    #expect(lines[1].wholeMatch(of: #/loaded 2,\d{3} events/#) != nil, "\(lines)")
    #expect(lines[3].contains("  Simulated: ") && lines[3].contains("(sim"), "\(lines)")
    try run.waitForError(
      "in a store of their own; to query it: export QUAKE_SERVER_HOME=\(server.home)")
    try run.waitForError("watching after ")
    try run.end()
    #expect(
      try server.psql("select string_agg(distinct source, ',') from quake.quake") == ["simulated"])
  }

  /// A database that DATABASE_URL names is used, and refused if it has real events.
  @Test func simulatedEventsAreRefusedByADatabaseOfOthers() throws {
    let database = try TestDatabase()
    try database.psql("insert into quake.quake (code, source, time) values ('us1', 'usgs', now());")
    try start("simulated", ["DATABASE_URL": database.conninfo]).exit().expect(
      65, "cannot import simulated events beside real ones")
    #expect(try database.count("quake.quake") == 1)
  }

  /// Also if the usual port is in use, by a socket that does not listen: only who binds the port notices.
  @Test func itBeginsWithTheAddressAndTheStrongestEvents() throws {
    // A failure means that another program has the port, which is as good. Connections to the server of another test
    // may still be closing.
    let taken = try? LocalSocket.bind(port: 8080, reuses: true)
    defer { if let taken { close(taken.descriptor) } }
    // With it, the server could have the port as well.
    var off: Int32 = 0
    if let taken {
      setsockopt(
        taken.descriptor, SOL_SOCKET, SO_REUSEADDR, &off, socklen_t(MemoryLayout<Int32>.size))
    }
    let database = try TestDatabase()
    let run = try start("simulated", ["DATABASE_URL": database.conninfo])
    defer { run.signal(SIGTERM) }
    let lines = try run.lines(8)
    #expect(lines[0].wholeMatch(of: #/http://127\.0\.0\.1:\d+//#) != nil, "\(lines)")
    #expect(!lines[0].contains(":8080"), "\(lines)")
    #expect(lines[1].wholeMatch(of: #/loaded 2,\d{3} events/#) != nil, "\(lines)")
    #expect(lines[2] == "the strongest:")
    let magnitudes = lines[3..<8].compactMap { line in
      line.firstMatch(of: #/^\d{4}-\S+Z  M +(\d\.\d)  /#).flatMap { Double($0.1) }
    }
    #expect(magnitudes.count == 5 && magnitudes == magnitudes.sorted(by: >), "\(lines)")
    try run.waitForError("watching after ")
    // The list as the first poll left it: the worker may have changed it since.
    let token = try database.value(
      """
      select t.token || '.' || t.nonce
        from quake.import i join quake.change_transaction t on t.token = i.token
       order by i.id limit 1
      """)
    #expect(
      try magnitudes.first
        == Double(
          database.value(
            """
            select round(max(magnitude)::numeric, 1) from quake.as_of('\(token)')
             where withdrawn_at is null and superseded_by is null
            """)))
    // What comes next is live.
    try database.psql(
      "update quake.quake set magnitude = 9.9 where code = (select min(code) from quake.quake);")
    var printed = [try run.line()]
    while printed.last?.contains("→ 9.9") == false { printed.append(try run.line()) }
    let outcome = try run.end()
    #expect(!outcome.errors.contains("could not listen"))
    printed += outcome.lines
    let later = try database.value("select count(*) from quake.changes_since('\(token)')")
    #expect(printed.count <= Int(later) ?? 0, "none of them is of the first poll")
  }

  @Test func itEndsIfAProgramEnds() throws {
    let database = try TestDatabase()
    try start("no-such-feed", ["DATABASE_URL": database.conninfo]).exit().expect(64)
  }
}
