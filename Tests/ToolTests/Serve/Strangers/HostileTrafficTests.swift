import Foundation
import TestSupport
import Testing

/// Traffic that is wrong in every way that a stranger may think of. QUAKE_SOAK=1 sends it for ten minutes.
@Suite struct HostileTrafficTests {
  private static let duration: Duration = Tools.isSoak ? .seconds(600) : .seconds(3)
  /// The least number of connections of an attack, however slow the machine is.
  private static let least = 1000

  /// Requests that are not ones, or not sensible ones.
  private static let requests: [String] = [
    "", "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
    "GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /v1/quakes?place=%ff%fe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /v1/quakes?limit=99999999999999999999 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /v1/quakes/';drop%20table%20quake.quake;-- HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /v1/quakes?page=AAAA HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /v1/changes?after=nonsense HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /v1/changes HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 99999.ffffffff\r\n\r\n",
    "GET /v1/changes?snapshot=1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /v1/changes?limit=-1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /fdsnws/event/1/query?minmagnitude=NaN HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /fdsnws/event/1/query?format=geojson&starttime=0000-00-00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /earthquakes/feed/v1.0/summary/none_ever.geojson HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /earthquakes/feed/v1.0/summary/all_day.geojson HTTP/1.1\r\nHost: localhost\r\nRange: bytes=5-1,9-\r\n\r\n",
    "POST /v1/refresh HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    "POST /v1/refresh HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
    "POST /v1/refresh HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "POST /v1/refresh HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \u{FF}\r\n\r\n",
    "DELETE /v1/quakes/us1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "BREW /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "CONNECT x:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /standing_order/websocket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n",
    "GET /standing_order/websocket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n\u{1}garbage",
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: " + String(repeating: "c", count: 1 << 20)
      + "\r\n\r\n",
    "GET /healthz?" + String(repeating: "a=1&", count: 5000)
      + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
    String(repeating: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 500),
  ]

  /// How much the server may grow, in kilobytes. The address sanitizer gives little of what was freed back to
  /// the system, and remembers every place that ever allocated: in ten minutes 17 MB.
  private static let growth =
    (ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil ? 16 : 48) * 1024

  @Test func theServerStaysAsItWas() throws {
    let database = try TestDatabase()
    let feed = try TemporaryFolder()
    let file = try feed.write("quakes.geojson", Feeds.collection(count: 200))
    _ = try database.run("quake-ingest", ["import", file])
    let server = try ServerProcess(database, ["--request-timeout", "1s"])
    try server.waitUntilReady()
    var random = SeededGenerator(17)
    // As much memory as such traffic ever needs is taken in its first tenth, if that is not too short.
    try attack(server, for: max(Self.duration / 10, .seconds(3)), &random)
    try waitForCalm(server)
    let (memory, descriptors) = (
      try ProcessMemory.allocated(of: server.process.pid), try Self.descriptors(of: server)
    )
    try attack(server, for: Self.duration, &random)
    try waitForCalm(server)
    for target in ["/readyz", "/v1/quakes?limit=1"] {
      // On a busy machine, the test's own request may arrive late as well.
      try eventually("\(target) is answered") { (try? server.get(target))?.status == 200 }
    }
    // The connections to the database come and go.
    try eventually("the server has no more descriptors than before") {
      try Self.descriptors(of: server) <= descriptors + 8
    }
    let grown = try ProcessMemory.allocated(of: server.process.pid) - memory
    #expect(grown < Self.growth, "the server has grown by \(grown) kB")
    if Tools.isSoak { print("hostile traffic: the server has grown by \(grown) kB") }
    #expect(try database.count("quake.quake") == 200)
    try server.stop()
  }

  private func attack(
    _ server: ServerProcess, for duration: Duration, _ random: inout SeededGenerator
  ) throws {
    let deadline = ContinuousClock.now + duration
    var open: [RawConnection] = []
    var count = 0
    while count < Self.least || ContinuousClock.now < deadline {
      count += 1
      guard let connection = try? RawConnection(port: server.port, patience: .seconds(1)) else {
        open.removeAll()
        continue
      }
      let request = Array(
        Self.requests[Int.random(in: 0..<Self.requests.count, using: &random)].utf8)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: break  // says nothing
      case 1: connection.send(Array(request.prefix(Int.random(in: 0...40, using: &random))))
      case 2:
        connection.send(request)
        shutdown(connection.descriptor, Int32(SHUT_WR))
      case 3:
        connection.send((0..<200).map { _ in UInt8.random(in: 0...255, using: &random) })
      default: connection.send(request)
      }
      // Some leave at once, and some stay without reading.
      if Bool.random(using: &random) { open.append(connection) }
      if open.count > 300 { open.removeFirst(150) }
    }
  }

  /// Waits until the server has ended all connections of the attack.
  private func waitForCalm(_ server: ServerProcess) throws {
    try eventually("all connections have ended") {
      try server.get("/metrics").text.contains("\nquake_http_connections 1\n")
    }
  }

  private static func descriptors(of server: ServerProcess) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.process.pid)/fd").count
  }
}
