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
    try server.command("status").expect(1, printing: "stopped", "not created yet")
    try server.command("start").expect(
      0, output: "the embedded server was started in \(server.home)\n")
    #expect(
      try server.command("start").output == "the embedded server is running in \(server.home)\n")
    try server.command("status").expect(
      0, printing: "running", server.home + "/data", "process id", "connection        host=")
    try server.command("psql", "-X", "-A", "-t", "-c", "select 6 * 7").expect(0, output: "42\n")
    // psql's own exit status and message.
    try server.command("psql", "-X", "-c", "select nonsense").expect(
      1, "column \"nonsense\" does not exist")
    #expect(try server.command("stop").output == "the embedded server was stopped\n")
    try server.command("stop").expect(0, output: "the embedded server was not running\n")
    #expect(try server.command("status").status == 1)
    // Running psql starts the server.
    #expect(try server.command("psql", "-X", "-A", "-t", "-c", "select 1").output == "1\n")
    #expect(try server.command("stop").status == 0)
    // Another tool starts it too, and says how to stop it.
    try server.start("quake-admin", ["migrate"]).exit().expect(
      0, "started a private PostgreSQL in \(server.home); stop it with \"quake-admin server stop\"")
  }

  @Test(.enabled(if: geteuid() == 0, "only root's server has another account"))
  func rootMayHaveAStrictUmask() throws {
    let server = try ToolServer("new/folder/server")
    try Tools.shell(
      "umask 077; quake-admin server start", environment: ["QUAKE_SERVER_HOME": server.home]
    ).expect(0)
  }
}
