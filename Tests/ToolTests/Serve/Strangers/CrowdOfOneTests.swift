import Basics
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

/// One address with 50 connections of the most expensive requests, and another one that asks for a list. A proxy names
/// the addresses.
@Suite struct CrowdOfOneTests {
  private static let crowd = ["X-Forwarded-For": "192.0.2.1"]
  private static let other = ["X-Forwarded-For": "192.0.2.2"]
  private static let connections = 50

  private func scene(
    events: Int, _ arguments: [String] = []
  ) throws -> (TestDatabase, ServerProcess) {
    let database = try TestDatabase()
    try database.psql(
      """
      insert into quake.quake (code, net, time, magnitude, place, longitude, latitude, depth, type, sig)
      select 'us' || i, 'us', now() - make_interval(mins => i), (i % 70) / 10.0,
             i % 300 || ' km SSW of Somewhere', (i * 7 % 36000) / 100.0 - 180,
             (i * 13 % 17000) / 100.0 - 85, i % 600, 'earthquake', i % 1000
        from generate_series(1, \(events)) i;
      update quake.quake set felt = 3 where code in
        (select 'us' || i from generate_series(1, \(events), 2) i);
      analyze;
      """)
    let server = try ServerProcess(database, ["--trusted-proxy", "127.0.0.1"] + arguments)
    try server.waitUntilReady()
    return (database, server)
  }

  @Test func anotherAddressIsAnsweredBeforeTheCrowd() throws {
    let (database, server) = try scene(events: 200, ["--query-timeout", "10m"])
    // Nothing that reads the history ends now.
    let holder = try database.connect()
    try holder.run("begin", "lock table quake.quake_version in access exclusive mode")
    let crowd = try (0..<Self.connections).map { number in
      let connection = try RawConnection(port: server.port)
      let target = [
        "/v1/diff?from=0&limit=\(number + 1)", "/v1/history?limit=\(number + 1)",
        "/v1/quakes?as-of=1&limit=\(number + 1)", "/v1/table?as-of=1&limit=\(number + 1)",
      ][number % 4]
      connection.send(
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
      return connection
    }
    try eventually("as many as may run wait for the lock") {
      // The reader of the streams may be a further one.
      Int(
        try database.value(
          """
          select count(*) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'
          """)) ?? 0 >= 3
    }
    for number in 1...20 { try server.get("/v1/quakes?limit=\(number)", Self.other).expect(200) }
    try holder.run("rollback")
    // The statements of the crowd began before.
    for connection in crowd { #expect(try connection.answer().status == 200) }
    try server.stop()
  }

  /// The most expensive requests of each kind. Each is different, so that no answer is one that was kept.
  private static func target(_ number: Int) -> String {
    let magnitude = "-0.\(number)"
    let format = ["quakeml", "geojson", "csv", "kml", "text"][number / 11 % 5]
    switch number % 11 {
    case 0: return "/v1/diff?from=0&limit=\(10_000 - number % 5000)"
    case 1: return "/v1/history?limit=10000&min-magnitude=\(magnitude)"
    case 2: return "/v1/quakes?min-magnitude=\(magnitude)"
    case 3: return "/v1/quakes?place=Some&within=9000:10,20&min-magnitude=\(magnitude)"
    case 4: return "/v1/quakes?as-of=1&limit=\(20_000 - number % 9000)"
    case 5: return "/v1/table?limit=\(100_000 - number % 9000)"
    case 6: return "/v1/table?as-of=1&limit=\(100_000 - number % 9000)"
    case 7: return "/v1/stats?by=day&min-magnitude=\(magnitude)"
    case 8: return "/fdsnws/event/1/count?minmagnitude=\(magnitude)"
    case 9:
      return "/fdsnws/event/1/query?limit=20000&format=\(format)&minmagnitude=\(magnitude)"
    default: return "/earthquakes/feed/v1.0/summary/all_month.\(format)?\(number)"
    }
  }

  /// The threads of the crowd, each with a connection.
  private final class Crowd: Sendable {
    private let isOver = Atomic(false)
    private let begun = Atomic(0)
    private let threads = Mutex<[BackgroundThread]>([])

    /// How many requests have begun.
    var requests: Int { begun.load(ordering: .relaxed) }

    func start(port: Int) {
      threads.withLock { threads in
        threads = (0..<CrowdOfOneTests.connections).map { _ in
          BackgroundThread { self.run(port: port) }
        }
      }
    }

    private func run(port: Int) {
      var connection: RawConnection?
      while !isOver.load(ordering: .relaxed) {
        let number = begun.add(1, ordering: .relaxed).newValue
        let target = CrowdOfOneTests.target(number)
        do {
          let open = try connection ?? RawConnection(port: port)
          connection = open
          // One that is refused because of the rate counts as well.
          _ = try open.request("GET", target, CrowdOfOneTests.crowd)
        } catch {
          connection = nil
        }
      }
    }

    func stop() throws {
      isOver.store(true, ordering: .relaxed)
      for thread in threads.withLock({ $0 }) { try thread.join() }
    }
  }

  @Test(.enabled(if: Tools.isSoak, "needs a quiet machine: make soak"))
  func theListOfAnotherAddressComesWithinASecond() throws {
    let (database, server) = try scene(events: 100_000)
    let crowd = Crowd()
    crowd.start(port: server.port)
    try eventually("the crowd has begun") { crowd.requests >= Self.connections }
    var times: [Duration] = []
    for number in 0..<500 {
      let list = "/v1/quakes?limit=\(100 + number % 50)&min-magnitude=1.\(number)"
      let begun = ContinuousClock.now
      let answer = try server.get(list, Self.other)
      times.append(ContinuousClock.now - begun)
      #expect(answer.status == 200)
    }
    times.sort()
    print("crowd of one: median \(times[250]), 99th percentile \(times[495])")
    #expect(times[495] < .seconds(1))
    try crowd.stop()
    try server.stop()
    withExtendedLifetime(database) {}
  }

  /// Clients that ask for documents and do not read them. In `make soak` until the server has ended their connections,
  /// half a minute after the time for a request.
  @Test func clientsThatDoNotReadTheirDocumentsDelayNoOther() throws {
    let database = try TestDatabase()
    // Documents of 5 MB, more than the system keeps for a connection that is not read.
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select 'e' || i, now() - make_interval(mins => i), repeat('x', 1000)
        from generate_series(1, 5000) i
      """)
    let server = try ServerProcess(database, ["--request-timeout", "1s"])
    try server.waitUntilReady()
    var clients = try (0..<50).map { _ in try RawConnection(port: server.port) }
    for (number, client) in clients.enumerated() {
      client.send(
        "GET /v1/table?limit=\(5000 - number % 5) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }
    for client in clients {
      var answered = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&answered, 1, ToolProcess.patience.pollTimeout) == 1)
    }
    #expect(try server.get("/v1/quakes?limit=3").status == 200)
    if Tools.isSoak {
      try eventually("their connections have ended") {
        try server.get("/metrics").text.contains("\nquake_http_connections 1\n")
      }
    }
    clients.removeAll()
    try server.stop()
  }
}
