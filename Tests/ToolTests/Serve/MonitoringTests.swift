import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// The rules and the dashboard in deploy/monitoring.
@Suite struct MonitoringTests {
  private static let folder = Tools.package + "/deploy/monitoring"

  /// The metrics that the files name exist: a renamed one would leave an alert that never fires.
  @Test func eachMetricExists() throws {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    let feed = try folder.write("one.geojson", Feeds.collection(count: 1))
    try database.succeed("quake-ingest", ["import", feed])
    let server = try ServerProcess(database)
    try server.waitUntilReady()
    let served = try server.get("/metrics").text
    // A server with a standby and a slot, and a worker.
    let servers = try ReplicatedServers()
    try servers.ask(servers.primary, "select pg_create_physical_replication_slot('kept', true)")
    try Tools.succeed(
      "quake-watch",
      [
        "--name", "w", "--no-witness", "--from-start", "--no-follow", "-d",
        servers.primary.conninfo,
      ])
    var status = ""
    try eventually("the standby streams") {
      for side in [servers.primary, servers.standby] {
        status += try Tools.run("quake-admin", ["status", "--prometheus", "-d", side.conninfo])
          .output
      }
      return status.contains("quake_standby_behind_bytes")
        && status.contains("quake_replication_receiving 1")
    }
    try database.psql(
      """
      insert into quake.watcher (name, token) values ('pager', 0);
      insert into quake.consumer (name, sink) values ('pager', 'webhook');
      """)
    status += try database.run("quake-admin", ["status", "--prometheus"]).output
    let region = try TestDatabase()
    try region.psql(
      "insert into quake.regional_database (name, is_here, schema_version) values ('eu', true, 1)")
    status += try region.run("quake-admin", ["status", "--prometheus"]).output
    let worker = try database.start(
      "quake-ingest", ["run", "--feed", feed, "--metrics", folder.path + "/quake-worker.prom"])
    try worker.waitForError("polling ")
    func workerMetrics() throws -> PrometheusText {
      try PrometheusText(contents(of: folder.path + "/quake-worker.prom"))
    }
    try eventually("the worker writes its metrics") { (try? workerMetrics()) != nil }
    let metrics = try workerMetrics()
    for name in ["connected", "feeds", "open_fds"] {
      let value = metrics.value("quake_worker_" + name, ["worker": "quake-worker"])
      #expect(value ?? 0 > 0, "\(name)")
    }
    try worker.end()
    status += try contents(of: folder.path + "/quake-worker.prom")
    var known = Set(
      (served + status).matches(of: #/# TYPE (quake_[a-z_]+)/#).map { String($0.1) })
    // Only a region that has caught up has it, which RegionMisuseTests sees.
    known.insert("quake_region_lag_seconds")
    #expect(known.count > 25)
    for file in ["alerts.yml", "grafana-server.json"] {
      let text = try contents(of: Self.folder + "/" + file)
      let named = Set(text.matches(of: #/\bquake_[a-z_]+/#).map { String($0.0) })
      #expect(named.count > 5)
      for name in named {
        let metric = name.hasSuffix("_bucket") ? String(name.dropLast(7)) : name
        #expect(known.contains(metric), "\(file) names \(name)")
      }
    }
    // Which program this is: --version says the same.
    let version = try Tools.run("quake-serve", ["--version"]).output
    let words = try #require(
      version.firstMatch(of: #/ (\S+) \(commit (\S+), schema (\d+)\)/#), "\(version)")
    let info =
      "quake_build_info{version=\"\(words.1)\",commit=\"\(words.2)\",schema=\"\(words.3)\"} 1\n"
    #expect(served.contains(info) && status.contains(info), "\(info)")
    try server.stop()
  }

  @Test func metricsReplaceNoOtherFile() throws {
    let folder = try TemporaryFolder()
    let database = try TestDatabase()
    func run(_ path: String) throws -> ToolProcess.Outcome {
      try database.run(
        "quake-ingest", ["run", "--once", "--feed", folder.path + "/a.csv", "--metrics", path])
    }
    let notes = try folder.write("notes.conf", "# HELP me\nauthor = ada\n")
    for (path, words) in [
      (notes, "option --metrics: \"\(notes)\" has other contents than metrics of a worker"),
      (
        folder.path, "option --metrics: cannot replace \"\(folder.path)\": it is not a regular file"
      ),
    ] { try run(path).expect(64, words) }
    #expect(try contents(of: notes) == "# HELP me\nauthor = ada\n")
    // Its own file is replaced: only the feed is wrong here.
    let outcome = try run(
      folder.write("own.prom", "# HELP quake_worker_timestamp_seconds When.\n"))
    #expect(outcome.errors.contains("a.csv") && !outcome.errors.contains("--metrics"))
  }

  @Test(
    .enabled(
      if: (try? Tools.shell("promtool --version").status == 0) == true, "there is no promtool"))
  func prometheusAcceptsTheRulesAndTheMetrics() throws {
    try Tools.shell("promtool check rules '\(Self.folder)/alerts.yml'").expect(0)
    try Tools.shell("cd '\(Self.folder)' && promtool test rules alerts.test.yml").expect(0)
    let server = try ServerProcess(try TestDatabase())
    try Tools.shell("curl -s \(server.url)/metrics | promtool check metrics").expect(0)
  }
}
