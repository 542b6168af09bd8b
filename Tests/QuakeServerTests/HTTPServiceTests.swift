import Basics
import Postgres
import QuakeModel
import Synchronization
import TestSupport
import Testing

@testable import QuakeServer

/// How requests for the pool of connections share answers and take turns.
@Suite struct HTTPServiceTests {
  /// The answers in the order in which they came, and what handlers wait for.
  private final class Log: Sendable {
    private let texts = Mutex<[String]>([])
    /// Raised when the handlers may go on.
    let gate: WakeEvent
    let begun = Atomic<Int>(0)

    init() throws { gate = try WakeEvent() }

    var all: [String] { texts.withLock { $0 } }

    func add(_ name: String, _ response: Response) {
      var bytes: [UInt8] = []
      if case .document(let document) = response.body { try? document.withParts { bytes += $0 } }
      let text = "\(name) \(response.status) \(String(decoding: bytes, as: UTF8.self))"
      texts.withLock { $0.append(text) }
    }

    /// Waits until the test lets the handler go on.
    func waitAtGate() {
      begun.add(1, ordering: .relaxed)
      _ = gate.wait(for: ToolProcess.patience)
    }
  }

  private let database: TestDatabase
  private let log: Log

  init() throws {
    database = try TestDatabase()
    log = try Log()
  }

  private func service(
    _ caching: Caching, threads: Int, timeout: Duration = .seconds(30), mostWaiting: Int = 2000,
    _ errors: ErrorForm = .problem,
    _ handler: @escaping @Sendable (Request, QueryContext) throws -> Response
  ) throws -> HTTPService {
    var connection = ConnectionSettings(database.conninfo, applicationName: "pool")
    connection.connectTimeout = ToolProcess.patience
    let pool = QueryPool(
      QueryPool.Settings(
        connection: connection, threads: threads, statementTimeout: timeout,
        mostWaiting: mostWaiting))
    try pool.start()
    let routes = [false, true].map { isExpensive in
      Route(
        method: .get, path: isExpensive ? "/expensive/{name}" : "/{name}",
        operation: Operation("x", "x", tag: "x", answers: []), errors: errors, caching: caching,
        isExpensive: isExpensive, handler: .query(handler))
    }
    return HTTPService(
      table: RouteTable(routes), settings: .init(), limits: AddressLimits(.init()), pool: pool,
      tokens: AccessTokens(),
      observer: RequestObserver(completed: { _ in }, failed: { _, _ in }),
      newestToken: NewestToken())
  }

  private func get(_ service: HTTPService, _ name: String, _ target: String, of client: String) {
    let (request, match, failure) = service.read(
      method: "GET", target: target, headers: ["Host": "x"], address: client)
    let log = log
    let now = service.answer(
      request, match, failure, arrived: .now(), wait: { true }, later: { log.add(name, $0) })
    if let now { log.add(name, now) }
  }

  @Test func aRequestIsNotAnsweredWithAnOlderStateThanAtItsArrival() throws {
    let log = log
    let service = try service(.untilChange, threads: 2) { _, context in
      log.waitAtGate()
      return .text("\(context.token)")
    }
    defer { service.pool.close() }
    let before = try database.value("select quake.latest_token()")
    get(service, "early", "/a", of: "192.0.2.1")
    try eventually("the first is being answered") { log.begun.load(ordering: .relaxed) == 1 }
    try database.connect().run("insert into quake.quake (code, time) values ('a', now())")
    let after = try database.value("select quake.latest_token()")
    get(service, "late", "/a", of: "192.0.2.1")
    get(service, "later", "/a", of: "192.0.2.2")
    log.gate.raise()
    try eventually("all are answered") { log.all.count == 3 }
    #expect(
      log.all.sorted() == ["early 200 \(before)", "late 200 \(after)", "later 200 \(after)"])
  }

  @Test func anErrorSpeaksOfTheRequestThatGetsIt() throws {
    let log = log
    let service = try service(.forAtMost(.seconds(60)), threads: 1, .fdsn) { _, _ in
      log.waitAtGate()
      throw HTTPError(404, "Not Found")
    }
    defer { service.pool.close() }
    get(service, "first", "/a?jsonerror=true&format=geojson&key=secret", of: "192.0.2.1")
    try eventually("the first is being answered") { log.begun.load(ordering: .relaxed) == 1 }
    get(service, "second", "/a", of: "192.0.2.1")
    log.gate.raise()
    try eventually("both are answered") { log.all.count == 2 }
    let second = try #require(log.all.first { $0.hasPrefix("second") })
    #expect(second.hasPrefix("second 404 ") && !second.contains("secret"))
  }

  @Test func aClientWithManyRequestsLeavesAThreadToOthers() throws {
    let log = log
    let service = try service(.none, threads: 2) { request, _ in
      if request.path == "/slow" { log.waitAtGate() }
      return .text("")
    }
    defer { service.pool.close() }
    for _ in 0..<5 { get(service, "slow", "/slow", of: "192.0.2.1") }
    get(service, "other", "/quick", of: "192.0.2.2")
    try eventually("the other is answered") { log.all == ["other 200 "] }
    log.gate.raise()
    try eventually("all are answered") { log.all.count == 6 }
  }

  /// Also those of loopback, which has no limits: a proxy sends those of all its clients from there.
  @Test func expensiveRequestsLeaveAThreadToQuickOnes() throws {
    let log = log
    let service = try service(.none, threads: 2) { request, _ in
      if request.path.hasPrefix("/expensive") { log.waitAtGate() }
      return .text("")
    }
    defer { service.pool.close() }
    for client in 1...5 { get(service, "slow", "/expensive/\(client)", of: "127.0.0.\(client)") }
    try eventually("one is being answered") { log.begun.load(ordering: .relaxed) == 1 }
    get(service, "other", "/quick", of: "127.0.0.1")
    try eventually("the other is answered") { log.all == ["other 200 "] }
    #expect(log.begun.load(ordering: .relaxed) == 1)
    log.gate.raise()
    try eventually("all are answered") { log.all.count == 6 }
  }

  @Test func anAddressLeavesExpensiveQueriesToOthers() throws {
    let log = log
    let service = try service(.none, threads: 4) { _, _ in
      log.waitAtGate()
      return .text("")
    }
    defer { service.pool.close() }
    for number in 1...5 { get(service, "many", "/expensive/\(number)", of: "2001:db8::\(number)") }
    try eventually("one is being answered") { log.begun.load(ordering: .relaxed) == 1 }
    get(service, "other", "/expensive/a", of: "2001:db8:0:1::1")
    try eventually("that of another network, too") { log.begun.load(ordering: .relaxed) == 2 }
    log.gate.raise()
    try eventually("all are answered") { log.all.count == 6 }
  }

  @Test func anAddressLeavesPlacesInTheQueueToOthers() throws {
    let log = log
    let service = try service(.none, threads: 1, mostWaiting: 8) { _, _ in
      log.waitAtGate()
      return .text("")
    }
    defer { service.pool.close() }
    get(service, "first", "/first", of: "192.0.2.1")
    try eventually("the first is being answered") { log.begun.load(ordering: .relaxed) == 1 }
    // Two of the eight places.
    for number in 0..<6 {
      get(service, "many", number % 2 == 0 ? "/x" : "/expensive/x", of: "192.0.2.1")
    }
    #expect(log.all.count == 4 && log.all.allSatisfy { $0.hasPrefix("many 503 ") }, "\(log.all)")
    for client in 2...3 {
      for _ in 0..<2 { get(service, "other", "/x", of: "192.0.2.\(client)") }
    }
    // Those of loopback have no limit of their own.
    for _ in 0..<2 { get(service, "other", "/x", of: "127.0.0.1") }
    #expect(log.all.count == 4)
    get(service, "late", "/x", of: "192.0.2.4")
    #expect(log.all.count == 5 && log.all.last?.hasPrefix("late 503 ") == true)
    log.gate.raise()
    try eventually("all that wait are answered") { log.all.count == 14 }
    #expect(log.all.count { $0.hasPrefix("other 200 ") } == 6)
  }

  @Test func theTimeInTheQueueCounts() throws {
    let log = log
    let service = try service(.none, threads: 1, timeout: .seconds(1)) { request, _ in
      if request.path == "/first" { log.waitAtGate() }
      return .text("")
    }
    defer { service.pool.close() }
    var firsts = 0
    try eventually("the first is being answered") {
      // Once more if even it had to wait for too long.
      if log.all.count == firsts {
        get(service, "first", "/first", of: "192.0.2.1")
        firsts += 1
      }
      return log.begun.load(ordering: .relaxed) == 1
    }
    let arrived = ContinuousClock.now
    get(service, "late", "/late", of: "192.0.2.2")
    try eventually("its time is over") { ContinuousClock.now - arrived > .seconds(1) }
    log.gate.raise()
    try eventually("it is refused") { log.all.contains { $0.hasPrefix("late 503 ") } }
    try eventually("a later one is answered") {
      get(service, "next", "/next", of: "192.0.2.2")
      return log.all.contains { $0.hasPrefix("next 200 ") }
    }
  }
}
