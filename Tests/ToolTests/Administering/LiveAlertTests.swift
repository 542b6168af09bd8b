import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// Each fault raises its alert in a Prometheus that scrapes the metrics of the real tools. The rules are those of
/// deploy/monitoring with shorter times: alerts.test.yml tests the times.
@Suite(
  .enabled(if: Tools.isSoak, "make soak has it"),
  .enabled(
    if: (try? Tools.shell("prometheus --version").status == 0) == true, "there is no prometheus"))
struct LiveAlertTests {
  /// A Prometheus, and in the place of node_exporter a server of the folder with the files.
  private final class Scene {
    let folder: TemporaryFolder
    private var processes: [ToolProcess] = []
    private let ports: [String]

    init() throws {
      folder = try TemporaryFolder()
      ports = try Tools.shell(
        """
        python3 -c 'import socket
        s = [socket.socket() for _ in range(2)]
        for x in s: x.bind(("127.0.0.1", 0))
        for x in s: print(x.getsockname()[1])'
        """
      ).lines
      try #require(ports.count == 2)
      try folder.write("rules.yml", Self.rules())
      let jobs = ["primary", "standby", "worker"].map {
        "  - {job_name: \($0), metrics_path: /\($0).prom, static_configs: [{targets: ['127.0.0.1:\(ports[0])']}]}"
      }
      try folder.write(
        "prometheus.yml",
        """
        global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
        rule_files: [rules.yml]
        scrape_configs:
        \(jobs.joined(separator: "\n"))
        """)
      let path = folder.path
      try FileManager.default.createDirectory(
        atPath: path + "/files", withIntermediateDirectories: false)
      for command in [
        "exec python3 -m http.server \(ports[0]) --bind 127.0.0.1 -d '\(path)/files' >/dev/null 2>&1",
        """
        exec prometheus --config.file='\(path)/prometheus.yml' --storage.tsdb.path='\(path)/data' \
          --web.listen-address=127.0.0.1:\(ports[1]) >/dev/null 2>&1
        """,
      ] {
        processes.append(try Tools.startShell(command))
      }
    }

    deinit { for process in processes { process.signal(SIGKILL) } }

    private static func rules() throws -> String {
      try String(
        contentsOfFile: Tools.package + "/deploy/monitoring/alerts.yml", encoding: .utf8
      )
      .replacing(#/for: \d+m/#, with: "for: 1s").replacing(#/> (300|3600|60)\b/#, with: "> 15")
      .replacing("> 4e9", with: "> 1e6").replacing("ratio > 0.25", with: "ratio > 0")
    }

    /// Writes the status of a server, as the timer does each minute.
    func write(_ name: String, _ server: EmbeddedServer) throws {
      let outcome = try Tools.run(
        "quake-admin",
        [
          "status", "--quiet", "--prometheus", "--output", "\(folder.path)/files/\(name).prom",
          "-d", server.conninfo,
        ])
      try #require([0, 1, 69].contains(outcome.status), "\(outcome.errors)")
    }

    func isFiring(_ alert: String) throws -> Bool {
      let answer = try Tools.shell(
        """
        curl -s --get http://127.0.0.1:\(ports[1])/api/v1/query \
          --data-urlencode 'query=ALERTS{alertname="\(alert)",alertstate="firing"}' || true
        """)
      return answer.output.contains("\"alertname\":\"\(alert)\"")
    }

    func expect(_ alert: String, while step: () throws -> Void = {}) throws {
      try eventually("\(alert) fires") {
        try step()
        return try isFiring(alert)
      }
    }

    func expectEnd(of alert: String, while step: () throws -> Void = {}) throws {
      try eventually("\(alert) ends") {
        try step()
        return try !isFiring(alert)
      }
    }
  }

  @Test func eachFaultRaisesItsAlert() throws {
    let servers = try ReplicatedServers()
    let primary = servers.primary
    let scene = try Scene()
    let both = {
      try scene.write("primary", primary)
      try scene.write("standby", servers.standby)
    }
    // Nothing writes metrics yet.
    for alert in ["QuakeStatusAbsent", "QuakeWorkerAbsent", "QuakeServerAbsent"] {
      try scene.expect(alert)
    }
    try scene.expectEnd(of: "QuakeStatusAbsent", while: both)
    let feed = try scene.folder.write("one.geojson", Feeds.collection(count: 1))
    let worker = try Tools.start(
      "quake-ingest",
      [
        "run", "--feed", "\(feed)@1s", "--metrics", scene.folder.path + "/files/worker.prom", "-d",
        primary.conninfo,
      ])
    try scene.expectEnd(of: "QuakeWorkerAbsent", while: both)
    try Tools.succeed(
      "quake-watch",
      ["--name", "w", "--no-witness", "--from-start", "--no-follow", "-d", primary.conninfo])

    // A slot that nobody reads, a standby that replays nothing, and a watcher that does not run.
    try servers.ask(primary, "select pg_create_physical_replication_slot('kept', true)")
    try servers.ask(servers.standby, "select pg_wal_replay_pause()")
    try servers.ask(
      primary,
      """
      insert into quake.quake (code, time, magnitude)
      select 'zz' || i, now(), 3 from generate_series(1, 20000) i
      """)
    for alert in ["QuakeWALRetained", "QuakeStandbyLags", "QuakeWatcherLags"] {
      try scene.expect(alert, while: both)
    }
    try servers.ask(servers.standby, "select pg_wal_replay_resume()")
    try scene.expectEnd(of: "QuakeWatcherExpired", while: both)
    try servers.ask(primary, "update quake.quake set magnitude = 4")
    try Tools.succeed(
      "quake-admin",
      [
        "history", "purge", "--yes", "--before", "0s", "--hold-limit", "0s", "-d",
        primary.conninfo,
      ])
    try scene.expect("QuakeWatcherExpired", while: both)

    // A listener that stays in a transaction.
    let listener = try Tools.startShell(
      """
      exec '\(Tools.psql)' -d '\(primary.conninfo)' -c 'listen quake_changes' -c begin -c 'select pg_sleep(1000)'
      """)
    try scene.expect("QuakeNotificationQueue") {
      try servers.ask(
        primary, "select count(pg_notify('quake_changes', i::text)) from generate_series(1, 5000) i"
      )
      try both()
    }
    listener.signal(SIGKILL)

    // Metrics of a worker and of a status that nobody writes any more, and a standby that is gone.
    worker.signal(SIGKILL)
    try servers.standby.stop(mode: .immediate)
    try scene.expect("QuakeStandbyLost") { try scene.write("primary", primary) }
    try scene.expect("QuakeWorkerStale") { try scene.write("primary", primary) }
    try #require(try !scene.isFiring("QuakeDatabaseDown"))
    try primary.stop(mode: .immediate)
    try scene.expect("QuakeDatabaseDown") { try scene.write("primary", primary) }
    try scene.expect("QuakeStatusStale")
  }

  @Test(.enabled(if: SmallDisk.mayMount, "only root may mount a file system"))
  func aFullDiskRaisesItsAlert() throws {
    let scene = try Scene()
    let disk = try SmallDisk(size: "400m")
    let server = try EmbeddedServer(EmbeddedServer.Options(home: disk.path + "/server"))
    try server.start()
    defer { _ = try? server.stop(mode: .immediate) }
    try Tools.succeed("quake-admin", ["migrate", "-d", server.conninfo])
    try scene.write("primary", server)
    try #require(try !scene.isFiring("QuakeDiskNearlyFull"))
    _ = try Tools.shell(
      "free=$(df -B1 --output=avail '\(disk.path)' | tail -1); fallocate -l $((free - 20000000)) '\(disk.path)/filler'"
    )
    try scene.expect("QuakeDiskNearlyFull") { try scene.write("primary", server) }
  }
}
