import Glibc
import TestSupport
import Testing

/// The embedded server, through the tools.
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
    #expect(try server.command("stop").status == 0)
    // Another tool starts it too, and says how to stop it.
    let migrated = try server.start("quake-admin", ["migrate"]).exit()
    #expect(migrated.status == 0, "\(migrated.errors)")
    #expect(
      migrated.errors.contains(
        "started a private PostgreSQL in \(server.home); stop it with \"quake-admin server stop\""),
      "\(migrated.errors)")
  }

  @Test(.enabled(if: geteuid() == 0, "only root's server has another account"))
  func rootMayHaveAStrictUmask() throws {
    let server = try ToolServer("new/folder/server")
    let started = try Tools.shell(
      "umask 077; quake-admin server start", environment: ["QUAKE_SERVER_HOME": server.home])
    #expect(started.status == 0, "\(started.errors)")
  }
}
