import Postgres
import QuakeModel
import QuakeStore
import Synchronization
import TestSupport
import Testing

/// Alerts about earthquakes, with what was told in the database.
@Suite struct AlertsTests {
  private let database: LiveDatabase
  private let connection: Connection

  init() throws {
    database = try LiveDatabase()
    connection = try database.test.connect()
  }

  private func alerts(
    _ name: String = "duty", from minimum: Double = 6, settle: Duration = .zero
  ) -> EarthquakeAlerts {
    var rule = AlertRule()
    rule.filter.minimumMagnitude = minimum
    rule.settle = settle
    return database.live.alerts(rule, named: name)
  }

  private func insert(_ code: String, _ magnitude: Double) throws {
    try connection.execute(
      """
      insert into quake.quake (code, time, magnitude, place)
        values (\(code), now(), \(magnitude), \("at " + code))
      """)
  }

  /// Makes the consumer known, which begins with what is committed afterwards.
  private func begin(_ name: String = "duty") async throws {
    let alerts = alerts(name)
    let task = Task { try await alerts.first(1) { $0.id } }
    let test = database.test
    try await OwnThread.run {
      try eventually("the consumer has begun") {
        try test.column("select name from quake.consumer").contains(name)
      }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func anEarthquakeIsOneConversation() async throws {
    try await begin()
    try insert("a", 6.1)
    try connection.execute("update quake.quake set felt = 3")
    try connection.execute("update quake.quake set magnitude = 6.6")
    try connection.execute("update quake.quake set magnitude = 5.5")
    let told = try await alerts().first(3) { $0 }
    #expect(told.map(\.kind) == [.opened, .updated, .retracted])
    #expect(Set(told.map(\.conversation)).count == 1 && told.map(\.number) == [1, 2, 3])
    #expect(told[1].told?.magnitude == 6.1 && told[1].event?.magnitude == 6.6)
    #expect(told[2].supersedes == told[1].id && told[2].text.hasPrefix("Retracted"))
  }

  @Test func anAlertThatWasNotProcessedComesAgain() async throws {
    try await begin()
    try insert("a", 6.1)
    let first = try await alerts().first(1) { $0.id }
    let again = try await alerts().first(1) { $0.id }
    #expect(first == again)
    try insert("b", 7)
    let both = try await alerts().first(2) { $0.id }
    #expect(both.first == first.first && both.last?.hasPrefix("2.") == true)
    // The first one was processed when the second one was asked for.
    #expect(try await alerts().first(1) { $0.id } == both.suffix(1))
  }

  @Test func anotherProgramTakesTheNameOver() async throws {
    try await begin()
    try insert("a", 6.1)
    var older = alerts().makeAsyncIterator()
    _ = try await older.next()
    let newer = try await alerts().first(1) { $0.id }
    #expect(newer.count == 1)
    do {
      _ = try await older.next()
      Issue.record("two programs have the same consumer")
    } catch let error as StoreError {
      #expect(error.kind == .replaced)
    }
  }

  @Test func aProgramShowsThatItRunsAlsoWhereNothingChanges() async throws {
    try await begin()
    let before = try connection.ask("select holder from quake.watcher")
    let waiting = Task { [alerts = alerts()] in try await alerts.first(1) { $0.id } }
    let test = database.test
    try await OwnThread.run {
      let connection = try test.connect()
      try eventually("the program has the consumer") {
        try connection.ask("select holder from quake.watcher") != before
      }
      try connection.run("update quake.watcher set seen_at = now() - interval '1 hour'")
      #expect(
        try connection.eventually(
          "exists (select from quake.watcher where seen_at > now() - interval '1 minute')"))
    }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test func aPausedConsumerIsToldNothingUntilItIsResumed() async throws {
    try await begin()
    try connection.run("update quake.consumer set paused_at = now()")
    try insert("a", 6.1)
    let told = Mutex(false)
    let waiting = Task { [alerts = alerts()] in
      try await alerts.first(1) { alert in
        told.withLock { $0 = true }
        return alert.kind
      }
    }
    let test = database.test
    try await OwnThread.run {
      let connection = try test.connect()
      try connection.run("update quake.watcher set seen_at = now() - interval '1 hour'")
      // When the program begins, and later on.
      for _ in 0..<2 {
        #expect(
          try connection.eventually(
            "exists (select from quake.watcher where seen_at > now() - interval '1 minute')"))
        try connection.run("update quake.watcher set seen_at = now() - interval '1 hour'")
      }
      #expect(!told.withLock { $0 })
      try connection.run("update quake.consumer set paused_at = null")
    }
    #expect(try await waiting.value == [.opened])
  }

  @Test func whatWaitsIsToldWhenItsTimeIsOver() async throws {
    try await begin()
    let waiting = Task { [alerts = alerts(settle: .seconds(1))] in
      try await alerts.first(1) { $0.kind }
    }
    try insert("a", 6.1)
    #expect(try await waiting.value == [.opened])
  }
}
