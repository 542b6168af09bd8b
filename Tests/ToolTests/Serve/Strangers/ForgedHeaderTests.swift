import TestSupport
import Testing

/// Header fields in which a client says that it is somebody else, or that the server is.
@Suite final class ForgedHeaderTests: ToolSuite {
  override init() throws {
    try super.init()
    try database.psql(
      """
      insert into quake.quake (code, time)
      select 'e' || i, now() - make_interval(mins => i) from generate_series(1, 5) i
      """)
  }

  /// How many requests in a row the server answers before it refuses one, at most 40.
  private func allowance(
    _ server: ServerProcess, _ forwarded: (Int) -> String
  ) throws -> Int {
    try (0..<40).prefix { number in
      try server.get("/healthz", ["X-Forwarded-For": forwarded(number)]).status == 200
    }.count
  }

  @Test func aClientCannotClaimAnotherAddress() throws {
    // Ten requests at once, and then one a second.
    let open = try ServerProcess(database, ["--max-rate", "1"])
    #expect(try allowance(open) { "192.0.2.\($0)" } < 40)
    let behindProxy = try ServerProcess(
      database, ["--max-rate", "1", "--trusted-proxy", "127.0.0.1"])
    // The proxy adds the address that it sees after what the client has sent.
    #expect(try allowance(behindProxy) { "198.51.100.\($0), 192.0.2.1" } < 40)
    #expect(try allowance(behindProxy) { "192.0.2.\(100 + $0)" } == 40)
    // A proxy that listens on both families names its IPv4 clients so. They are no network of IPv6.
    #expect(try allowance(behindProxy) { "::ffff:192.0.2.\(200 + $0)" } == 40)
    #expect(try allowance(behindProxy) { _ in "::ffff:192.0.2.1" } < 40)
  }

  @Test(arguments: ["127.0.0.1", "::ffff:127.0.0.1", "0:0:0:0:0:FFFF:7f00:1"])
  func theSpellingOfAProxyDoesNotMatter(address: String) throws {
    let server = try ServerProcess(
      database, ["--max-rate", "1", "--trusted-proxy", address])
    #expect(try allowance(server) { "192.0.2.\($0)" } == 40)
  }

  @Test func aClientCannotClaimAnotherHost() throws {
    let forged = ["X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"]
    let open = try ServerProcess(database)
    let behindProxy = try ServerProcess(database, ["--trusted-proxy", "127.0.0.1"])
    let named = try ServerProcess(
      database,
      ["--trusted-proxy", "127.0.0.1", "--public-url", "https://quakes.example.org"])
    func page(_ server: ServerProcess, _ headers: [String: String]) throws -> String {
      let answer = try server.get("/v1/quakes?limit=2", headers)
      try #require(answer.status == 200)
      return try #require(answer.headers["link"]) + answer.text
    }
    for server in [open, behindProxy, named] { try server.waitUntilReady() }
    #expect(try !page(open, forged).contains("evil"))
    #expect(try page(named, forged).hasPrefix("<https://quakes.example.org/v1/quakes?"))
    // A proxy says how it was called, and the answer that is kept for others has their name.
    #expect(try page(behindProxy, forged).hasPrefix("<https://evil.example/v1/quakes?"))
    #expect(try !page(behindProxy, [:]).contains("evil"))
    for host in ["evil.example>; rel=\"next\"", "evil\"example", "a b", "<script>"] {
      #expect(try page(behindProxy, ["X-Forwarded-Host": host]).hasPrefix("</v1/quakes?"))
    }
  }

  @Test func aPageOfAnotherSiteCannotEdit() throws {
    let scene = try APIScene(hasEvents: false)
    let origin = ["Origin": "https://evil.example"]
    let asked = try scene.server.request(
      "OPTIONS", "/v1/validate?every-event",
      origin.merging(["Access-Control-Request-Method": "POST"]) { $1 })
    #expect(asked.headers["access-control-allow-methods"] == "GET, HEAD")
    #expect(
      asked.headers["access-control-allow-headers"]?.lowercased().contains("authorization")
        == false)
    #expect(asked.headers["access-control-allow-credentials"] == nil)
    let edited = try scene.server.request(
      "POST", "/v1/validate?every-event", origin.merging(APIScene.key) { $1 })
    #expect(edited.headers["access-control-allow-origin"] == nil)
  }
}
