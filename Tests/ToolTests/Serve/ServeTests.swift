import Foundation
import TestSupport
import Testing

/// What all routes of `quake-serve` have in common.
@Suite struct ServeTests {
  private let database: TestDatabase

  init() throws {
    database = try TestDatabase()
  }

  @Test func healthAndReadinessAndMetrics() throws {
    let server = try ServerProcess(database)
    #expect(try server.get("/healthz").text == "ok\n")
    try eventually("the server is ready") { try server.get("/readyz").status == 200 }
    let metrics = try server.get("/metrics")
    #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    // A request is counted after its answer was sent.
    try eventually("the request is counted") {
      try server.get("/metrics").text.contains(
        #"quake_http_requests_total{route="/healthz",method="GET",status="200"} 1"# + "\n")
    }
    try server.stop()
  }

  @Test func aDocumentHasItsHeaders() throws {
    let server = try ServerProcess(database)
    let whole = try server.get("/metrics")
    #expect(whole.headers["access-control-allow-origin"] == "*")
    #expect(whole.headers["x-content-type-options"] == "nosniff")
    #expect(whole.headers["accept-ranges"] == "bytes")

    let plain = try server.get("/healthz")
    let tag = try #require(plain.headers["etag"])
    let head = try server.request("HEAD", "/healthz")
    #expect(head.status == 200 && head.headers["content-length"] == "3")
    #expect(head.headers["etag"] == tag)
    let known = try server.get("/healthz", ["If-None-Match": "\"x\", W/\(tag)"])
    #expect(known.status == 304 && known.body.isEmpty && known.headers["etag"] == tag)
    let part = try server.get("/healthz", ["Range": "bytes=1-"])
    #expect(part.status == 206 && part.text == "k\n")
    #expect(part.headers["content-range"] == "bytes 1-2/3")
    #expect(try server.get("/healthz", ["Range": "bytes=5-"]).status == 416)
    #expect(
      try server.get("/healthz", ["Range": "bytes=1-", "If-Range": "\"other\""]).status == 200)
  }

  @Test func wrongRequestsGetTheirStatus() throws {
    let server = try ServerProcess(database)
    #expect(try server.get("/nothing").status == 404)
    let method = try server.request("DELETE", "/healthz")
    #expect(method.status == 405 && method.headers["allow"] == "GET, HEAD, OPTIONS")
    #expect(try server.request("BREW", "/healthz").status == 405)
    let preflight = try server.request("OPTIONS", "/healthz", ["Origin": "https://example.org"])
    #expect(preflight.status == 204)
    #expect(preflight.headers["access-control-allow-methods"] == "GET, HEAD")
    #expect(try server.get("/%00").status == 400)
    #expect(try server.get("/healthz?q=%ff").status == 400)
    for length in [3_000, 3_500, 3_700, 3_900, 4_100, 100_000] {
      let target = "/healthz?x=" + String(repeating: "a", count: length)
      #expect([414, 431].contains(try server.get(target).status), "\(length)")
    }
    for count in [50, 60, 70, 150, 500] {
      let answer = try server.get("/v1/quakes?" + String(repeating: "a=1&", count: count))
      #expect(answer.status == 400, "\(count)")
    }
    #expect(
      try server.get("/healthz", ["Cookie": String(repeating: "a", count: 100_000)]).status == 431)
    let body = try server.request("POST", "/healthz", ["Content-Length": "1000000"])
    #expect(body.status == 413)
    let problem = try server.get("/nothing")
    #expect(problem.headers["content-type"] == "application/problem+json")
    let members = try problem.json() as? [String: Any]
    #expect(members?["status"] as? Int == 404 && members?["title"] as? String == "Not Found")
    // The server is as well as before.
    try eventually("the server is ready") { try server.get("/readyz").status == 200 }
  }

  @Test func aRequestOfHTTP10CannotChangeToAnotherProtocol() throws {
    let server = try ServerProcess(database)
    let connection = try RawConnection(port: server.port)
    connection.send(
      """
      GET /standing_order/websocket HTTP/1.0\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
      """)
    let answer = try connection.answer()
    #expect(answer.status == 400 && answer.text.contains("WebSocket"))
  }

  @Test func requestsOverOneConnectionAreAnsweredInTheirOrder() throws {
    let server = try ServerProcess(database)
    try eventually("the server is ready") { try server.get("/readyz").status == 200 }
    let connection = try RawConnection(port: server.port)
    let line = "HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connection.send(
      "GET /healthz \(line)GET /readyz \(line)GET /nothing \(line)HEAD /healthz \(line)")
    #expect(try connection.answer().text == "ok\n")
    #expect(try connection.answer().text == "ready\n")
    #expect(try connection.answer().status == 404)
    #expect(try connection.answer(hasBody: false).status == 200)
  }

  @Test func aRequestThatDoesNotArriveEndsItsConnection() throws {
    let server = try ServerProcess(database, ["--request-timeout", "1s"])
    let silent = try RawConnection(port: server.port)
    let slow = try RawConnection(port: server.port)
    slow.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    let halfBody = try RawConnection(port: server.port)
    halfBody.send("POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
    for connection in [silent, slow, halfBody] {
      #expect(try connection.answer().status == 408)
      #expect(connection.waitForEnd())
    }
    // On a busy machine, the test's own request may be late as well.
    try eventually("the server answers others") {
      (try? server.get("/healthz"))?.status == 200
    }
  }

  @Test func anAddressHasLimits() throws {
    let slow = try ServerProcess(database, ["--max-rate", "1"])
    // It may send ten seconds' worth at once, and then one request a second.
    for _ in 0..<10 { #expect(try slow.get("/healthz").status == 200) }
    try eventually("more requests than one a second are refused") {
      try slow.get("/healthz").status == 429
    }
    // Within the hour no connection ends because it is silent.
    let small = try ServerProcess(
      database, ["--max-connections-per-address", "3", "--request-timeout", "1h"])
    let open = try (0..<3).map { _ in try RawConnection(port: small.port) }
    // Each is counted once it has an answer.
    for connection in open { #expect(try connection.request("GET", "/healthz").status == 200) }
    let fourth = try RawConnection(port: small.port)
    #expect(fourth.waitForEnd())
    for connection in open { #expect(try connection.request("GET", "/healthz").status == 200) }
  }

  @Test func aDatabaseThatIsGoneIsReported() throws {
    let server = try ServerProcess(database)
    try eventually("the server is ready") { try server.get("/readyz").status == 200 }
    try database.allowConnections(false)
    var gone = try server.get("/readyz")
    // PostgreSQL ends the server's sessions some time after it was told to.
    try eventually("the server is not ready") {
      gone = try server.get("/readyz")
      return gone.status == 503
    }
    #expect(gone.headers["retry-after"] != nil)
    #expect(!gone.text.contains(database.name))
    try database.allowConnections(true)
    try eventually("the server is ready again") { try server.get("/readyz").status == 200 }
    try server.stop()
  }

  @Test func theLogIsJSONIfAsked() throws {
    let server = try ServerProcess(database, ["--log-format", "json"], logsRequests: true)
    #expect(try server.get("/healthz?x=%1B", ["User-Agent": "a\u{1B}[31mb"]).status == 400)
    try server.stop()
    let lines = server.process.errorText.split(separator: "\n")
    let line = try #require(lines.first { $0.contains("healthz") })
    let members = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    #expect(members?["status"] as? Int == 400 && members?["method"] as? String == "GET")
    #expect(!line.contains("\u{1B}"))
  }

  @Test func wrongOptionsAreRefused() throws {
    for arguments in [
      ["--listen", "nowhere"], ["--listen", "127.0.0.1:99999"], ["--edit-token", "no-hash"],
      ["--public-url", "ftp://x"], ["--query-connections", "0"],
    ] {
      let outcome = try Tools.run("quake-serve", database.option + arguments)
      #expect(outcome.status == 64, "\(arguments): \(outcome.errors)")
      #expect(!outcome.errors.contains("no-hash"), "\(arguments)")
    }
  }

  @Test func anAddressInUseIsReported() throws {
    let server = try ServerProcess(database)
    let outcome = try Tools.run(
      "quake-serve", database.option + ["--listen", "127.0.0.1:\(server.port)"])
    #expect(outcome.status == 69)
    #expect(outcome.errors.contains("Another program listens there."))
  }
}
