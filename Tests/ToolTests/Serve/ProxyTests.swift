import Foundation
import TestSupport
import Testing

/// Several servers on one database behind a proxy.
@Suite(.enabled(if: !ReverseProxy.Program.tested.isEmpty, "there is no nginx"))
final class ProxyTests: ToolSuite {
  @Test(arguments: ReverseProxy.Program.tested)
  func aClientMovesFromOneServerToTheOther(_ program: ReverseProxy.Program) throws {
    let options = [
      "--trusted-proxy", "127.0.0.1", "--public-url", "http://quakes.example.org",
    ]
    let first = try ServerProcess(database, options)
    let second = try ServerProcess(database, options)
    let proxy = try ReverseProxy(program, folder, [first.port, second.port])
    for number in 1...6 {
      try database.psql(
        "insert into quake.quake (code, time) values ('e\(number)', now())")
    }
    // Three changes from the one, and the others from wherever the proxy leads.
    var seen: [String] = []
    var id: String?
    for _ in 0..<2 {
      let stream = try ChangeStream(proxy.url, after: id)
      for _ in 0..<3 {
        let change = try stream.next()
        id = change.id
        seen.append(change.code)
      }
      stream.end()
    }
    #expect(seen == (1...6).map { "e\($0)" })
    let webSocket = try RawConnection(port: proxy.port)
    webSocket.send(
      "GET /standing_order/websocket HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n"
        + "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    #expect(try webSocket.line()?.hasPrefix("HTTP/1.1 101 ") == true)
    // With one of them gone, the other is there.
    try first.stop()
    try database.psql("insert into quake.quake (code, time) values ('e7', now())")
    let stream = try ChangeStream(proxy.url, after: id)
    #expect(try stream.next().code == "e7")
    stream.end()
    // Documents name the proxy's address, and the log the client's.
    let feed = try Tools.shell("curl -s -H 'Host: quakes.example.org' \(proxy.url)\(Self.feed)")
    #expect(feed.output.contains("http://quakes.example.org/"))
    try second.stop()
  }

  private static let feed = "/earthquakes/feed/v1.0/summary/all_hour.geojson"

  @Test func summaryFeedsAreAnsweredByTheCache() throws {
    let server = try ServerProcess(database, ["--public-url", "http://quakes.example.org"])
    let proxy = try ReverseProxy(.nginx, folder, [server.port])
    func get(_ target: String, _ headers: [String: String] = [:]) throws -> RawConnection.Answer {
      try RawConnection(port: proxy.port).request(
        "GET", target, headers.merging(["Connection": "close"]) { own, _ in own })
    }
    let made = try get(Self.feed).expect(200)
    #expect(made.headers["x-cache"] == "MISS")
    #expect(made.headers["cache-control"] == "public, max-age=60")
    // Lists are not kept.
    #expect(try get("/v1/quakes").headers["cache-control"] == "no-cache")
    try server.stop()
    // Parameters and the form of the body do not matter.
    let kept = try get(Self.feed + "?x=1")
    #expect(kept.headers["x-cache"] == "HIT" && kept.body == made.body)
    #expect(kept.headers["etag"] == made.headers["etag"])
    try get(Self.feed, ["If-None-Match": try #require(made.headers["etag"])]).expect(304)
    #expect(try get("/v1/quakes").status == 502)
  }

  /// As in an upgrade: each is stopped, or killed, and started again, while clients follow the changes and ask for
  /// documents. Their streams end at a small age, so that each server gets its share again.
  @Test(arguments: ReverseProxy.Program.tested)
  func restartedServersGetTheirShareOfTheStreams(_ program: ReverseProxy.Program) throws {
    let count = Tools.isSoak ? Self.mostStreams(through: program) : 30
    let options = ["--max-stream-age", Tools.isSoak ? "1m" : "1s", "--drain-streams", "1s"]
    let ports = try (0..<3).map { _ in try ReservedPort() }
    var servers = try ports.map { try ServerProcess(database, options, port: $0.number) }
    let proxy = try ReverseProxy(program, folder, ports.map(\.number))
    let clients = try ToolProcess(
      Self.probe, ["streams", "\(proxy.port)", "\(count)"], environment: Tools.environment)
    var written = 0
    func insert() throws {
      written += 1
      try database.psql(
        "insert into quake.quake (code, time) values ('e\(written)', now())")
    }
    /// Waits until all clients have each change once, in its order.
    func waitForClients() throws {
      let ids = try database.tokens()
      #expect(try clients.line() == "\(written) \(ids[written - 1])")
    }
    func streams(of server: ServerProcess) throws -> Int {
      let text = try server.get("/metrics").text
      let match = try #require(text.firstMatch(of: #/\nquake_stream_clients (\d+)/#))
      return try #require(Int(match.1))
    }
    for index in servers.indices {
      try insert()
      try waitForClients()
      if index == 1 {
        servers[index].process.signal(SIGKILL)
        _ = try servers[index].process.exit()
      } else {
        try servers[index].stop()
      }
      try insert()
      // The proxy asks another server when one refuses, so nobody is turned away.
      #expect(try Tools.shell("curl -sf -o /dev/null \(proxy.url)/v1/quakes").status == 0)
      try waitForClients()
      servers[index] = try ServerProcess(database, options, port: ports[index].number)
      try eventually("the server has its share again") {
        let share = count / 3
        guard Tools.isSoak else { return try streams(of: servers[index]) >= share / 2 }
        return try servers.allSatisfy { abs(try streams(of: $0) - share) <= share / 5 }
      }
    }
    try insert()
    try waitForClients()
    for server in servers { try server.stop() }
    withExtendedLifetime(ports) {}
  }

  /// 20,000, or what the limit on open files allows: the clients are one process, and so is the proxy, which has two for
  /// each stream; nginx has several processes.
  private static func mostStreams(through program: ReverseProxy.Program) -> Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let files = Int(clamping: limit.rlim_max)
    return min(20_000, program == .nginx ? files - 500 : files / 2 - 500)
  }

  /// The program with the clients, built into the folder of the tests.
  private static let probe =
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .path + "/test-probe"
}
