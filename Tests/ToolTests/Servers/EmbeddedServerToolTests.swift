import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// The embedded server and the migrations, through the tools.
@Suite struct EmbeddedServerToolTests {
  private let server: ToolServer

  init() throws {
    server = try ToolServer()
  }

  @Test func itStartsStopsAndReportsItsState() throws {
    let before = try server.command("status")
    #expect(before.status == 1)
    #expect(before.output.contains("stopped") && before.output.contains("not created yet"))
    let started = try server.command("start")
    #expect(started.status == 0)
    #expect(started.output == "the embedded server was started in \(server.home)\n")
    #expect(
      try server.command("start").output == "the embedded server is running in \(server.home)\n")
    let running = try server.command("status")
    #expect(running.status == 0)
    for words in ["running", server.home + "/data", "process id", "connection        host="] {
      #expect(running.output.contains(words), "\(running.output)")
    }
    let asked = try server.command("psql", "-X", "-A", "-t", "-c", "select 6 * 7")
    #expect(asked.status == 0 && asked.output == "42\n")
    // psql's own exit status and message.
    let failed = try server.command("psql", "-X", "-c", "select nonsense")
    #expect(failed.status == 1 && failed.errors.contains("column \"nonsense\" does not exist"))
    #expect(try server.command("stop").output == "the embedded server was stopped\n")
    let again = try server.command("stop")
    #expect(again.status == 0 && again.output == "the embedded server was not running\n")
    #expect(try server.command("status").status == 1)
    // Running psql starts the server.
    #expect(try server.command("psql", "-X", "-A", "-t", "-c", "select 1").output == "1\n")
  }

  @Test func toolsThatStartAtOnceShareOneServer() throws {
    let file = try server.folder.write("a.geojson", Feeds.collection(count: 3))
    let imports = try (0..<3).map { _ in
      try server.start("quake-ingest", ["import", "--json", file])
    }
    let migrate = try server.start("quake-admin", ["migrate"])
    // A watch does not create a server, so it begins when one of the others has; it need not run yet.
    try eventually("there is a server") {
      FileManager.default.fileExists(atPath: server.home + "/data/PG_VERSION")
    }
    let watch = try server.start("quake-watch", ["--json", "--from-start"])
    #expect(try watch.lines(3).count == 3)
    var inserted = 0
    for process in imports {
      let outcome = try process.exit()
      #expect(outcome.status == 0, "\(outcome.errors)")
      inserted += try JSONLine(#require(outcome.lines.first)).integer("inserted") ?? 0
    }
    #expect(inserted == 3)
    #expect(try migrate.exit().status == 0)
    watch.signal(SIGTERM)
    let ended = try watch.exit()
    #expect(ended.status == 0 && ended.output.isEmpty)
    #expect(
      try server.command(
        "psql", "-X", "-A", "-t", "-c",
        "select count(*) from quake.migration union all select count(*) from quake.quake"
      ).lines.last == "3")
    // One tool reports that it has started the server, and how to stop it.
    let errors = imports.map(\.errorText).joined() + migrate.errorText + ended.errors
    #expect(
      errors.components(
        separatedBy:
          "started a private PostgreSQL in \(server.home); stop it with \"quake-admin server stop\""
      ).count == 2, "\(errors)")
  }
}
