import Foundation
import Postgres
import TestSupport
import Testing

/// Whether the machine has the address ::1.
private let hasIPv6: Bool = {
  let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in6()
  address.sin6_family = sa_family_t(AF_INET6)
  address.sin6_addr = in6addr_loopback
  let length = socklen_t(MemoryLayout<sockaddr_in6>.size)
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
  }
}()

/// What all routes of `quake-serve` have in common, and its start and end.
@Suite final class ServeTests: ToolSuite {
  @Test func healthAndReadinessAndMetrics() throws {
    let server = try ServerProcess(database)
    #expect(try server.get("/healthz").text == "ok\n")
    try server.waitUntilReady()
    let metrics = try server.get("/metrics")
    #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    for name in ["open_fds", "max_fds", "resident_memory_bytes", "cpu_seconds_total"] {
      let line = metrics.text.split(separator: "\n").first { $0.hasPrefix("process_\(name) ") }
      #expect(line?.split(separator: " ").last.flatMap { Double($0) } ?? 0 > 0, "\(name)")
    }
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
    let head = try server.request("HEAD", "/healthz").expect(200)
    #expect(head.headers["content-length"] == "3")
    #expect(head.headers["etag"] == tag)
    let known = try server.get("/healthz", ["If-None-Match": "\"x\", W/\(tag)"]).expect(304)
    #expect(known.body.isEmpty && known.headers["etag"] == tag)
    #expect(known.headers["content-length"] == "3")
    let page = try #require(try server.get("/").headers["etag"])
    let zipped = try server.get("/", ["Accept-Encoding": "gzip"])
    let zippedTag = try #require(zipped.headers["etag"])
    #expect(zipped.headers["content-encoding"] == "gzip" && zippedTag != page)
    for (has, encoding) in [(page, nil), (zippedTag, "gzip")] {
      let same = try server.get("/", ["Accept-Encoding": "gzip", "If-None-Match": has])
      #expect(same.status == 304 && same.headers["etag"] == has, "\(same.headers)")
      #expect(same.headers["content-encoding"] == encoding)
    }
    let part = try server.get("/healthz", ["Range": "bytes=1-"]).expect(206)
    #expect(part.text == "k\n")
    #expect(part.headers["content-range"] == "bytes 1-2/3")
    #expect(try server.get("/healthz", ["Range": "bytes=5-"]).status == 416)
    #expect(
      try server.get("/healthz", ["Range": "bytes=1-", "If-Range": "\"other\""]).status == 200)
  }

  @Test func wrongRequestsGetTheirStatus() throws {
    let server = try ServerProcess(database)
    #expect(try server.get("/nothing").status == 404)
    let method = try server.request("DELETE", "/healthz").expect(405)
    #expect(method.headers["allow"] == "GET, HEAD, OPTIONS")
    #expect(try server.request("BREW", "/healthz").status == 405)
    let preflight = try server.request("OPTIONS", "/healthz", ["Origin": "https://example.org"])
      .expect(204)
    #expect(preflight.headers["access-control-allow-methods"] == "GET, HEAD")
    #expect(try server.get("/%00").status == 400)
    #expect(try server.get("/healthz?q=%ff").status == 400)
    for length in [3_000, 3_900, 4_100, 100_000] {
      let target = "/healthz?x=" + String(repeating: "a", count: length)
      #expect([414, 431].contains(try server.get(target).status), "\(length)")
    }
    for count in [50, 150, 500] {
      try server.get("/v1/quakes?" + String(repeating: "a=1&", count: count)).expect(
        400, with: count)
    }
    // libmicrohttpd has read on after a refusal, and ended the program.
    for count in stride(from: 1_450, to: 2_100, by: 50) {
      let target = "/?" + String(repeating: "a&", count: count)
      #expect(try server.get(target).status == 414, "\(count)")
    }
    // There is memory for the answer, or the answer says that there is none.
    for count in stride(from: 4, to: 60, by: 4) {
      let cookies = (1...count).map { "cookie\($0)=" + String(repeating: "a", count: 52) }
      let status = try server.get("/", ["Cookie": cookies.joined(separator: "; ")]).status
      #expect(count <= 24 ? status == 200 : [200, 431].contains(status), "\(count): \(status)")
      let fields = (1...count).map { ("X-\($0)", "some value") }
      let other = try server.get("/", Dictionary(uniqueKeysWithValues: fields)).status
      #expect(count <= 32 ? other == 200 : [200, 431].contains(other), "\(count): \(other)")
    }
    #expect(
      try server.get("/healthz", ["Cookie": String(repeating: "a", count: 100_000)]).status == 431)
    try server.request("POST", "/healthz", ["Content-Length": "1000000"]).expect(413)
    let problem = try server.get("/nothing")
    #expect(problem.headers["content-type"] == "application/problem+json")
    let members = try problem.json() as? [String: Any]
    #expect(members?["status"] as? Int == 404 && members?["title"] as? String == "Not Found")
    // The server is as well as before.
    try server.waitUntilReady()
  }

  @Test func aRequestOfHTTP10CannotChangeToAnotherProtocol() throws {
    let server = try ServerProcess(database)
    let connection = try RawConnection(port: server.port)
    connection.send(
      """
      GET /standing_order/websocket HTTP/1.0\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
      """)
    try connection.answer().expect(400, "WebSocket")
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
      ["--public-url", "ftp://x"], ["--public-url", "https://example.org/?x=1"],
      ["--public-url", "https://me:no-hash@example.org"], ["--query-connections", "0"],
      ["--audit-token", "no-hash"],
      ["--consumer-token", "no-hash"], ["--trusted-proxy", "10.0.0.0/8"],
      ["--trusted-proxy", "localhost"], ["--trusted-proxy", ""],
      ["--trusted-proxy", "127.0.0.1:80"],
    ] {
      let outcome = try database.run("quake-serve", arguments).expect(
        64, arguments[0], with: arguments)
      #expect(!outcome.errors.contains("no-hash"), "\(arguments)")
    }
  }

  @Test func anAddressInUseIsReported() throws {
    let server = try ServerProcess(database)
    try database.run("quake-serve", ["--listen", "127.0.0.1:\(server.port)"]).expect(
      69, "Another program listens there.")
  }

  /// As at the start of a machine. Service managers try again after status 69, and not after 64.
  @Test(.enabled(if: geteuid() == 0, "only root can leave the network"))
  func aNameThatCannotBeResolvedYetIsUnavailable() throws {
    try Tools.shell(
      "unshare --net quake-serve --listen server.example.org:0 --database '\(database.conninfo)'"
    ).expect(69, "could not listen on server.example.org:0: ")
  }

  @Test(.enabled(if: hasIPv6, "the machine has no IPv6"))
  func clientsOfBothFamiliesAreAnsweredAndCountedByTheirAddresses() throws {
    let process = try database.start(
      "quake-serve", ["--listen", ":0", "--max-rate", "1", "--max-connections-per-address", "100"])
    try process.waitForError("serving on http://:")
    let match = try #require(process.errorText.firstMatch(of: #/serving on http://:(\d+)/#))
    let port = try #require(Int(match.1))
    func status(_ descriptor: Int32?) throws -> Int {
      try RawConnection(#require(descriptor)).request("GET", "/healthz").status
    }
    #expect(try status(LocalSocket.connect(toPort: port)) == 200)
    #expect(try status(LocalSocket.connect(toPort6: port)) == 200)
    try process.waitForError("127.0.0.1 GET /healthz 200")
    try process.waitForError("::1 GET /healthz 200")
    #expect(!process.errorText.contains("::ffff:"))
    // Ten requests at once, and then one a second. The other family is another client.
    try eventually("more requests than one a second are refused") {
      try status(LocalSocket.connect(toPort: port)) == 429
    }
    #expect(try status(LocalSocket.connect(toPort6: port)) == 200)
  }

  // MARK: As a service

  @Test func itReportsThatItListensAndThatItIsAlive() throws {
    let socket = try NotifySocket(folder.path + "/notify")
    let server = try ServerProcess(
      database, environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "400000"])
    #expect(
      try socket.message(with: "READY=1")
        == "READY=1\nSTATUS=serving on http://127.0.0.1:\(server.port)")
    for _ in 0..<4 { _ = try socket.message(with: "WATCHDOG=1") }
    server.process.signal(SIGTERM)
    _ = try socket.message(with: "STOPPING=1")
    #expect(try server.process.exit().status == 0)
  }

  @Test func theExampleWorksAndNamesEveryOption() throws {
    let example = try ExampleFile("quake-serve.conf")
    let file = try folder.write("serve.conf", example.text)
    let server = try ServerProcess(
      database, ["--config", file, "--metrics-listen", "127.0.0.1:0"])
    #expect(try server.get("/healthz").status == 200)
    try server.stop()
    try example.expectEveryOption(of: "quake-serve")
  }

  @Test func atItsEndItFinishesTheRequestsInProgress() throws {
    let server = try ServerProcess(database, ["--drain", "10m", "--query-timeout", "10m"])
    // The streams must have begun: they read the newest token, too.
    try server.waitUntilReady()
    let blocker = try database.connect()
    // The query of a request waits for this lock.
    try blocker.begin()
    try blocker.execute("lock table quake.change_transaction")
    let connection = try RawConnection(port: server.port)
    connection.send("GET /v1/quakes?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try eventually("the query waits") {
      try database.sessions(
        of: "quake-serve",
        where: "wait_event_type = 'Lock' and query = 'select quake.latest_token()'") == 1
    }
    server.process.signal(SIGTERM)
    try eventually("the server takes no further connections") {
      (try? RawConnection(port: server.port)) == nil
    }
    try blocker.rollback()
    #expect(try connection.answer().status == 200)
    #expect(try server.process.exit().status == 0)
  }
}
