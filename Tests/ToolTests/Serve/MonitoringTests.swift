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
    try Tools.succeed("quake-ingest", ["import", feed] + database.option)
    let server = try ServerProcess(database)
    try eventually("the server is ready") { try server.get("/readyz").status == 200 }
    let served = try server.get("/metrics").text
    let status = try Tools.run(
      "quake-admin", ["status", "--prometheus"] + database.option
    ).output
    let known = Set(
      (served + status).matches(of: #/# TYPE (quake_[a-z_]+)/#).map { String($0.1) })
    #expect(known.count > 25)
    for file in ["alerts.yml", "grafana-server.json"] {
      let text = try String(contentsOfFile: Self.folder + "/" + file, encoding: .utf8)
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

  @Test(
    .enabled(
      if: (try? Tools.shell("promtool --version").status == 0) == true, "there is no promtool"))
  func prometheusAcceptsTheRulesAndTheMetrics() throws {
    let rules = try Tools.shell("promtool check rules '\(Self.folder)/alerts.yml'")
    #expect(rules.status == 0, "\(rules.output)\(rules.errors)")
    let server = try ServerProcess(try TestDatabase())
    let metrics = try Tools.shell("curl -s \(server.url)/metrics | promtool check metrics")
    #expect(metrics.status == 0, "\(metrics.output)\(metrics.errors)")
  }
}
