import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// The database ends, is gone for a while, and fails over to its standby; the server ends as well.
@Suite struct OutageTests {
  /// How long the database is gone.
  private static let outage = Duration.seconds(Tools.isSoak ? 60 : 1)

  @Test func streamsGoOnAcrossOutages() throws {
    let servers = try ReplicatedServers()
    let hosts = try [servers.primary, servers.standby].map { try $0.status().socketDirectory }
    let database =
      "\(servers.primary.conninfo) host=\(hosts.joined(separator: ",")) target_session_attrs=read-write"
    // The server has this port again after its restart.
    let port = try ReservedPort()
    let serve = try ServerProcess(
      ["--database", database, "--heartbeat", "200ms"], port: port.number)
    func waitForReadiness(_ status: Int) throws {
      try eventually("/readyz answers \(status)") {
        let answer = try serve.get("/readyz")
        #expect(!answer.text.contains(hosts[0]), "where the database is: \(answer.text)")
        return answer.status == status
      }
    }
    var writes = servers.primary
    var written: [String] = []
    func insert(_ count: Int) throws {
      let codes = (1...count).map { "e\(written.count + $0)" }
      let values = codes.map { "('\($0)', now())" }.joined(separator: ", ")
      try servers.ask(writes, "insert into quake.quake (code, time) values \(values)")
      written += codes
    }
    let streams = try (0..<3).map { _ in try ChangeStream(serve.url) }
    var seen: [[String]] = [[], [], []]
    var last = ""
    func read() throws {
      for (index, stream) in streams.enumerated() {
        while seen[index].count < written.count {
          let change = try stream.next()
          seen[index].append(change.code)
          last = change.id
        }
        #expect(seen[index] == written)
      }
    }

    try insert(3)
    try read()
    try waitForReadiness(200)

    // It crashes, and is gone for a while.
    try servers.primary.stop(mode: .immediate)
    let gone = ContinuousClock.now
    try waitForReadiness(503)
    try eventually("the outage has lasted long enough") {
      ContinuousClock.now - gone >= Self.outage
    }
    #expect(try serve.get("/healthz").status == 200)
    try servers.primary.start()
    try insert(2)
    try read()
    try waitForReadiness(200)

    // It fails for good, and the standby takes its place.
    try insert(2)
    let newest = try servers.ask(servers.primary, "select quake.latest_token()")
    try eventually("the standby has caught up") {
      try servers.ask(servers.standby, "select quake.latest_token()") == newest
    }
    try servers.primary.stop(mode: .immediate)
    try waitForReadiness(503)
    try servers.ask(servers.standby, "select pg_promote(wait_seconds => 180)")
    writes = servers.standby
    try insert(2)
    try read()
    try waitForReadiness(200)

    // The server restarts: the clients resume by the last id.
    try serve.stop()
    try insert(2)
    let next = try ServerProcess(["--database", database], port: port.number)
    let resumed = try ChangeStream(next.url, after: last)
    #expect(try (0..<2).map { _ in try resumed.next().code } == Array(written.suffix(2)))
    try next.stop()
    withExtendedLifetime(port) {}
  }
}
