import Foundation
import TestSupport
import Testing

/// What the server tells strangers, and under which names it answers.
@Suite struct DisclosureTests {
  private static let hidden = ["user", "pid", "client", "import"]

  private static func transaction(_ change: Any?) throws -> [String: Any] {
    let change = try #require(change as? [String: Any])
    return try #require(change["transaction"] as? [String: Any])
  }

  @Test func strangersDoNotSeeTheSessionsOfTheDatabase() throws {
    let scene = try APIScene()
    let (server, key) = (scene.server, APIScene.key)
    let lists = [("/v1/history?limit=1", "changes"), ("/v1/quakes/us7/versions", "versions")]
    for (target, list) in lists {
      let stranger = try server.get(target)
      let members = try stranger.object()
      let shown = try Self.transaction((members[list] as? [Any])?.first)
      #expect(shown["application"] is String, "\(target)")
      #expect(shown["author"] is String && shown["at"] is String)
      #expect(Self.hidden.allSatisfy { shown[$0] is NSNull }, "\(target): \(shown)")
      #expect(stranger.headers["access-control-allow-origin"] == "*")
      let wrong = try server.get(target, ["Authorization": "Bearer x"])
      #expect(wrong.text == stranger.text)

      let answer = try server.get(target, key)
      let known = try Self.transaction(
        ((try answer.json() as? [String: Any])?[list] as? [Any])?.first)
      #expect(known["user"] is String && known["pid"] is Int && known["import"] is Int, "\(known)")
      // No page of another site, and no cache, gets that.
      #expect(answer.headers["access-control-allow-origin"] == nil)
      #expect(answer.headers["cache-control"] == "no-store")
      #expect(try server.get(target).text == stranger.text)
    }
    let stream = try server.get(
      "/v1/changes?after=0&limit=1", key.merging(["Accept": "application/x-ndjson"]) { $1 })
    let line = try JSONSerialization.jsonObject(with: Data(stream.body))
    let streamed = try Self.transaction(line)
    #expect(streamed["author"] is String && Self.hidden.allSatisfy { streamed[$0] is NSNull })
  }

  @Test func strangersDoNotSeeTheSessionsInTheStatus() throws {
    let scene = try APIScene()
    // Nothing answers there; the worker holds the feed even so.
    let worker = try scene.database.start(
      "quake-ingest", ["run", "--quiet", "--feed", "http://127.0.0.1:1/held.geojson@1h"])
    func status(_ headers: [String: String]) throws -> [String: Any] {
      try scene.server.get("/v1/status", headers).object()
    }
    func feeds(_ status: [String: Any]) -> [[String: Any]] {
      (status["feeds"] as? [[String: Any]])?.filter { $0["held"] as? Bool == true } ?? []
    }
    let key = APIScene.key
    try eventually("the worker holds the feed") { try !feeds(status(key)).isEmpty }
    #expect(try feeds(status(key)).allSatisfy { $0["holder_pid"] is Int })
    #expect((try status(key)["database"] as? [String: Any])?["address"] is String)
    let shown = try status([:])
    #expect(!feeds(shown).isEmpty && feeds(shown).allSatisfy { $0["holder_pid"] is NSNull })
    #expect((shown["database"] as? [String: Any])?["address"] is NSNull)
    try worker.end()
  }

  @Test func metricsAndStatusCanHaveAnAddressOfTheirOwn() throws {
    let database = try TestDatabase()
    let server = try ServerProcess(database, ["--metrics-listen", "127.0.0.1:0"])
    try server.process.waitForError("metrics and status on http://127.0.0.1:")
    let text = server.process.errorText
    let match = try #require(text.firstMatch(of: #/status on http://127\.0\.0\.1:(\d+)/#))
    let port = try #require(Int(match.1))
    func own(_ target: String) throws -> RawConnection.Answer {
      try RawConnection(port: port).request("GET", target)
    }
    try eventually("the server is ready") { try own("/readyz").status == 200 }
    #expect(try own("/metrics").text.contains("quake_ready 1\n"))
    let status = try own("/v1/status").object()
    #expect((status["database"] as? [String: Any])?["address"] is String)
    #expect(try own("/v1/status").headers["access-control-allow-origin"] == nil)
    #expect(try own("/v1/quakes").status == 404)
    #expect(try server.get("/metrics").status == 404)
    #expect(try server.get("/v1/status").status == 404)
    #expect(try server.get("/readyz").status == 200)
    #expect(try !server.get("/openapi.json").text.contains("/v1/status"))
    try server.stop()
    withExtendedLifetime(database) {}
  }

  @Test func onLoopbackOnlyItsOwnNamesAreAccepted() throws {
    func status(_ server: ServerProcess, _ host: String) throws -> Int {
      let connection = try RawConnection(port: server.port)
      connection.send("GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      return try connection.answer().status
    }
    let database = try TestDatabase()
    let plain = try ServerProcess(database)
    for host in [
      "localhost", "LOCALHOST.:80", "127.0.0.1:1", "[::1]:8080", "quakes.localhost",
      "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]:80",
    ] {
      #expect(try status(plain, host) == 200, "\(host)")
    }
    for host in [
      "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "",
      "192.0.2.1", "[2001:db8::1]", "quakes.example.org", "[::ffff:192.0.2.1]", "127.1",
    ] {
      #expect(try status(plain, host) == 421, "\(host)")
    }
    let named = try ServerProcess(database, ["--public-url", "https://quakes.example.org:8443/x"])
    for host in ["quakes.example.org", "Quakes.Example.ORG:443", "localhost"] {
      #expect(try status(named, host) == 200, "\(host)")
    }
    #expect(try status(named, "other.example.org") == 421)
  }
}
