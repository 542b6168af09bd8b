import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// The embedded server and the migrations, through the tools.
@Suite struct EmbeddedServerToolTests {
  private let folder: TemporaryFolder
  private let home: String
  private let stopper: Stopper

  /// Stops whatever the test has started.
  private final class Stopper {
    let server: EmbeddedServer

    init(home: String) throws {
      var options = EmbeddedServer.Options(home: home)
      options.binDirectory = ProcessInfo.processInfo.environment["QUAKE_PG_BIN"]
      server = try EmbeddedServer(options)
    }

    deinit { _ = try? server.stop(mode: .immediate) }
  }

  init() throws {
    folder = try TemporaryFolder()
    home = folder.path + "/server"
    stopper = try Stopper(home: home)
  }

  private func start(_ tool: String, _ arguments: [String]) throws -> ToolProcess {
    try Tools.start(tool, arguments, environment: ["QUAKE_SERVER_HOME": home])
  }

  private func server(_ arguments: String...) throws -> ToolProcess.Outcome {
    try start("quake-admin", ["server"] + arguments).exit()
  }

  @Test func itStartsStopsAndTellsHowItIs() throws {
    let before = try server("status")
    #expect(before.status == 1)
    #expect(before.output.contains("stopped") && before.output.contains("not created yet"))
    let started = try server("start")
    #expect(started.status == 0)
    #expect(started.output == "the embedded server was started in \(home)\n")
    #expect(try server("start").output == "the embedded server is running in \(home)\n")
    let running = try server("status")
    #expect(running.status == 0)
    for words in ["running", home + "/data", "process id", "connection        host="] {
      #expect(running.output.contains(words), "\(running.output)")
    }
    let asked = try server("psql", "-X", "-A", "-t", "-c", "select 6 * 7")
    #expect(asked.status == 0 && asked.output == "42\n")
    // psql's own status and words.
    let failed = try server("psql", "-X", "-c", "select nonsense")
    #expect(failed.status == 1 && failed.errors.contains("column \"nonsense\" does not exist"))
    #expect(try server("stop").output == "the embedded server was stopped\n")
    let again = try server("stop")
    #expect(again.status == 0 && again.output == "the embedded server was not running\n")
    #expect(try server("status").status == 1)
    // Asking for psql is asking for the server.
    #expect(try server("psql", "-X", "-A", "-t", "-c", "select 1").output == "1\n")
  }

  @Test func toolsThatStartAtOnceShareOneServer() throws {
    let file = try folder.write("a.geojson", Feeds.collection(count: 3))
    let watch = try start("quake-watch", ["--json", "--from-start"])
    let imports = try (0..<3).map { _ in try start("quake-ingest", ["import", "--json", file]) }
    let migrate = try start("quake-admin", ["migrate"])
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
      try server(
        "psql", "-X", "-A", "-t", "-c",
        "select count(*) from quake.migration union all select count(*) from quake.quake"
      ).lines.last == "3")
    // One of them says that it has started it, and how to stop it.
    let errors = imports.map(\.errorText).joined() + migrate.errorText + ended.errors
    #expect(
      errors.components(
        separatedBy:
          "started a private PostgreSQL in \(home); stop it with \"quake-admin server stop\""
      ).count == 2, "\(errors)")
  }

  @Test func migrationsAreToldOfAndApplied() throws {
    let database = try TestDatabase(migrated: false)
    func migrate(_ arguments: String...) throws -> ToolProcess.Outcome {
      let outcome = try Tools.run("quake-admin", ["migrate"] + database.option + arguments)
      try #require(outcome.status == 0, "\(outcome.errors)")
      return outcome
    }
    #expect(try migrate("--dry-run").lines.first == "would apply migration 1 (events)")
    let pending = try migrate("--status").lines
    #expect(pending.count >= 3 && pending.dropFirst().allSatisfy { $0.contains("pending") })
    #expect(try database.value("select to_regclass('quake.quake') is null") == "t")
    #expect(try migrate().lines.first == "applied migration 1 (events)")
    #expect(try migrate().output == "the schema is up to date\n")
    #expect(try migrate("--dry-run").output == "the schema is up to date\n")
    let applied = try migrate("--status").lines
    #expect(applied.count == pending.count)
    #expect(
      applied.dropFirst().allSatisfy { $0.contains("quake-admin ") && !$0.contains("pending") })
    let both = try Tools.run("quake-admin", ["migrate", "--status", "--dry-run"] + database.option)
    #expect(both.status == 64)
  }

  /// Many at once: each migration is applied by one of them.
  @Test func manyMigrateAtOnce() throws {
    let database = try TestDatabase(migrated: false)
    let processes = try (0..<20).map { _ in
      try Tools.start("quake-admin", ["migrate"] + database.option)
    }
    var applied: [String] = []
    for process in processes {
      let outcome = try process.exit()
      #expect(outcome.status == 0, "\(outcome.errors)")
      applied += outcome.lines.filter { $0.hasPrefix("applied") }
    }
    #expect(applied.count == Set(applied).count)
    #expect(try database.count("quake.migration") == applied.count)
  }
}
