import EmbeddedPostgres
import Foundation
import Postgres
import QuakeSchema
import TestSupport
import Testing

/// `quake-admin server start --listen` and `server url`.
@Suite(.serialized) struct ListeningServerTests {
  private let server: ToolServer

  init() throws {
    server = try ToolServer(isInitialised: true)
  }

  private func url(_ arguments: String...) throws -> String {
    try server.start("quake-admin", ["server", "url"] + arguments).exit().expect(0).lines.first
      ?? ""
  }

  /// The answer of psql at an address, or its error.
  private func psql(
    _ url: String, _ query: String, _ environment: [String: String] = [:]
  ) throws -> ToolProcess.Outcome {
    try ToolProcess(
      Tools.psql, ["-X", "-A", "-t", "-w", "-c", query, url],
      environment: Tools.environment.merging(environment) { $1 }
    ).exit()
  }

  @Test func withoutListeningTheURLIsThatOfTheSocket() throws {
    #expect(try ToolServer().command("url").status == 69)
    try server.command("url", "--database", "postgresql:///other").expect(
      64, "option --database names another server")
    #expect(try server.command("start").status == 0)
    let url = try url()
    #expect(url.hasPrefix("postgresql://quake@/quake?host=/") && url.hasSuffix("&port=5432"))
    #expect(try psql(url, "select 6 * 7").output == "42\n")
    #expect(try self.url("--with-password") == url)
    #expect(try server.command("stop").status == 0)
    try server.command("url").expect(0, "does not run")
  }

  @Test func oneRoleReadsOverTCPWithItsPasswordUntilItIsClosed() throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let port = reserved.number
    let file = try server.folder.write("a.geojson", Feeds.collection(count: 3))
    #expect(try server.start("quake-ingest", ["import", file]).exit().status == 0)
    let socket = try url()
    let watcher = try server.start("quake-watch", ["--json", "--from-start"])
    _ = try watcher.lines(3)
    try server.command("start", "--listen", "\(port)").expect(
      0, printing: "127.0.0.1:\(port) for role quake_reader")

    let secret = try url("--with-password")
    #expect(try url() == "postgresql://quake_reader@127.0.0.1:\(port)/quake")
    #expect(try psql(secret, "select count(*) from quake.current_quake").output == "3\n")
    #expect(try psql(secret, "delete from quake.quake").errors.contains("permission denied"))
    #expect(try psql(try url(), "select 1").status != 0)
    // A host may have several servers.
    #expect(
      try Tools.run("quake-admin", ["status", "-d", secret]).output
        .contains("database \"quake\" on host \"127.0.0.1\", port \(port)\n"))
    let passwords = server.home + "/reader.pgpass"
    #expect(try psql(try url(), "select 1", ["PGPASSFILE": passwords]).output == "1\n")
    let mode = try FileManager.default.attributesOfItem(atPath: passwords)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let wrong = secret.replacing(/:[A-Za-z0-9]{32}@/, with: ":wrong@")
    #expect(wrong != secret)
    #expect(try psql(wrong, "select 1").errors.contains("password authentication failed"))
    // Not the superuser, and not over another address.
    let owner = try psql("postgresql://quake@127.0.0.1:\(port)/quake", "select 1")
    #expect(owner.errors.contains("no pg_hba.conf entry"), "\(owner.errors)")
    #expect(
      try psql(socket, "show listen_addresses; show password_encryption").output
        .hasPrefix("127.0.0.1\n"))

    // The socket keeps its name, so that the watcher finds the server again.
    let more = try server.folder.write("b.geojson", Feeds.collection(count: 5))
    #expect(try server.start("quake-ingest", ["import", more]).exit().status == 0)
    #expect(try watcher.lines(2).count == 2)
    try watcher.end()

    // It outlasts restarts and crashes, with the same password.
    #expect(try server.command("stop").status == 0)
    #expect(try server.command("start").output.contains("127.0.0.1:\(port)"))
    #expect(try url("--with-password") == secret)
    #expect(try psql(secret, "select 1").output == "1\n")
    _ = try server.embedded.stop(mode: .immediate)
    #expect(try server.start("quake-query", ["list", "--count"]).exit().output == "5\n")
    #expect(try psql(secret, "select 1").output == "1\n")
    #expect(try server.command("status").output.contains(try Regex("TCP +127.0.0.1:\(port)")))

    let closed = try server.command("start", "--no-listen").expect(0)
    #expect(!closed.output.contains("127.0.0.1"), "\(closed.output)")
    #expect(try psql(secret, "select 1").status != 0)
    #expect(try url() == socket)
    #expect(try psql(socket, "select 1").output == "1\n")
    #expect(try !contents(of: server.home + "/data/pg_hba.conf").contains("host "))
  }

  /// As a release before made it: the first new tool migrates.
  @Test func theRoleMayReadWhatMigrationsAdd() throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    try server.embedded.start()
    let connection = try Connection(
      ConnectionSettings(server.embedded.conninfo, applicationName: "tests"))
    let migrations = Array(try Migrator.embedded().prefix(20))
    _ = try Migrator(connection: connection, migrations: migrations, program: "tests").migrate()
    try connection.run("create role quake_reader login")
    try connection.run("grant select on quake.quake to public")
    try server.embedded.listen(on: reserved.number, role: "quake_reader", password: "secret")
    #expect(try server.start("quake-query", ["list", "--count"]).exit().output == "0\n")
    // What else somebody has granted stays.
    #expect(
      try connection.row(
        """
        select has_table_privilege('quake_reader', 'quake.consumer', 'select')
           and has_table_privilege('pg_monitor', 'quake.quake', 'select')
        """, as: Bool.self))
  }

  @Test func aPortInUseIsRefused() throws {
    let other = try ScriptedServer { _, _ in }
    #expect(try server.command("start").status == 0)
    try server.command("start", "--listen", "\(other.port)").expect(
      69, "port \(other.port) of 127.0.0.1 is in use")
    #expect(try psql(try url(), "select 1").output == "1\n")
    for port in ["80", "70000"] {
      #expect(try server.command("start", "--listen", port).status == 64)
    }
    #expect(try server.command("start", "--listen", "5999", "--no-listen").status == 64)
  }

  /// A program that takes the port while the server is stopped keeps no tool from the database.
  @Test func aPortThatWasTakenMeanwhileIsLeftOut() throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let port = reserved.number
    #expect(try server.command("start", "--listen", "\(port)").status == 0)
    #expect(try server.command("stop").status == 0)
    do {
      let other = try TakenPort(port)
      try server.start("quake-query", ["list", "--count"]).exit().expect(
        0, "port \(port) of 127.0.0.1 is in use", output: "0\n")
      #expect(try server.command("status").output.contains("not open, because the port was in use"))
      #expect(try server.command("start", "--listen", "\(port)").status == 69)
      withExtendedLifetime(other) {}
    }
    let again = try server.command("start", "--listen", "\(port)")
    #expect(again.output.contains("listens on 127.0.0.1:\(port)"), "\(again.errors)")
    #expect(try psql(url("--with-password"), "select 1").output == "1\n")
    #expect(try server.command("stop").status == 0)
    let other = try TakenPort(port)
    #expect(try server.command("start", "--no-listen").status == 0)
    withExtendedLifetime(other) {}
    #expect(try !server.command("status").output.contains("TCP"))
  }

  /// A port of 127.0.0.1 that this process has.
  private final class TakenPort {
    private let descriptor: Int32

    init(_ port: Int) throws {
      // As PostgreSQL does: ended connections do not keep a port.
      descriptor = try LocalSocket.bind(port: port, reuses: true).descriptor
      try #require(listen(descriptor, 1) == 0)
    }

    deinit { close(descriptor) }
  }
}
