import Foundation
import TestSupport
import Testing

/// A store of two servers under Patroni, as deploy/failover/patroni.yml configures them and docs/failover.md describes.
@Suite(
  .enabled(if: Tools.isSoak, "make soak has it"),
  .enabled(if: PatroniCluster.isInstalled, "patroni or etcd is not installed"))
struct PatroniTests {
  @Test func nothingIsLostWithThePrimary() throws {
    let cluster = try PatroniCluster()
    let folder = cluster.folder.path
    try Tools.succeed(
      "quake-admin", ["migrate", "-d", cluster.url], environment: cluster.environment)
    let service = try Tools.start(
      "quake-ingest",
      ["simulate", "--port", "0", "--events", "200", "--rate", "600", "--max-age", "0"])
    let feed = try #require(try service.lines(2)[1].split(separator: " ").last)
    let worker = try Tools.start(
      "quake-ingest", ["run", "--feed", "\(feed)@1s", "-d", cluster.url],
      environment: cluster.environment)
    let watchers = try ["one", "two"].map { name in
      try Tools.startShell(
        "exec quake-watch --json --name \(name) --from-start -d '\(cluster.url)' > \(name)",
        environment: cluster.environment, folder: folder)
    }
    func printed(_ name: String) throws -> String {
      try contents(of: "\(folder)/\(name)")
    }
    // Each line of its output is a commit that was confirmed.
    let writer = try Tools.startShell(
      """
      i=0
      while [ ! -e stop ]; do
        i=$((i + 1))
        if '\(Tools.psql)' -X -q -d '\(cluster.url)' \\
          -c "insert into quake.quake (code, time) values ('own$i', now())" 2>/dev/null
        then echo own$i; fi
      done
      """, environment: cluster.environment, folder: folder)
    try worker.waitForError(" inserted, ")
    var confirmed = try writer.lines(20)

    let (primary, other) = (cluster.nodes[0], cluster.nodes[1])
    try primary.kill()
    try cluster.wait("there is a new leader", for: other, "primary")
    // The worker and the watchers have followed it.
    try worker.waitForError("connected to the database again")
    try cluster.ask("insert into quake.quake (code, time) values ('after', now())")
    for name in ["one", "two"] {
      try eventually("watcher \(name) has the change", within: PatroniCluster.patience) {
        try printed(name).contains("\"code\":\"after\"")
      }
    }
    let imported = "select count(*) from quake.import"
    let before = try cluster.ask(imported)
    try eventually("the worker imports") { try cluster.ask(imported) != before }

    // Patroni makes the old primary the standby, and commits wait for it.
    try cluster.start(primary)
    try cluster.wait("the old primary follows", for: primary, "synchronous")
    #expect(try primary.log().contains("pg_rewind exit code=0"))
    try cluster.folder.write("stop", "")
    confirmed += try writer.exit().lines
    try worker.end()

    // Whatever was confirmed is there, and each watcher had all of it once, in the order of the commits.
    let codes = Set(try cluster.ask("select code from quake.quake").split(separator: "\n"))
    #expect(confirmed.count > 20 && confirmed.filter { !codes.contains(Substring($0)) } == [])
    let whole = try Tools.succeed(
      "quake-watch", ["--json", "--from-start", "--no-follow", "-d", cluster.url],
      environment: cluster.environment
    ).output
    for (watcher, name) in zip(watchers, ["one", "two"]) {
      try eventually("watcher \(name) has printed all", within: PatroniCluster.patience) {
        try printed(name).utf8.count >= whole.utf8.count
      }
      try watcher.end()
      #expect(try printed(name) == whole)
    }
    try Tools.succeed(
      "quake-query", ["verify", "-d", cluster.url], environment: cluster.environment)
    try cluster.stop()
  }
}
