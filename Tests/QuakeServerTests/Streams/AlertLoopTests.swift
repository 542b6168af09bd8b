import Basics
import Glibc
import Postgres
import QuakeConsumers
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

/// What the streams of consumers with conversations decide, one turn after the other.
@Suite struct AlertLoopTests {
  private let database: TestDatabase
  private let connection: Connection
  private let loop: AlertLoop

  init() throws {
    let database = try TestDatabase()
    self.database = database
    connection = try database.connect()
    try connection.run("create schema ahead")
    try connection.run(
      """
      create function ahead.clock_timestamp() returns timestamptz
      return pg_catalog.clock_timestamp() + interval '30 days'
      """)
    // Whatever waits is due at once.
    loop = AlertLoop(.patient) {
      let connection = try database.connect()
      try connection.run("set search_path = ahead, pg_catalog")
      return connection
    }
  }

  /// Begins the stream of a consumer, over a socket pair.
  ///
  /// - Returns: The client's end.
  private func begin(_ rule: AlertRule) throws -> Int32 {
    let consumer = try #require(RemoteConsumer("duty", of: "ann", session: ""))
    let start = HistoryCursor(token: .beginning)
    _ = try consumer.make(at: start, rule: "alert=true", over: connection)
    let holder = consumer.makeHolder()
    _ = try consumer.take(as: holder, over: connection)
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let taken = ends[1]
    try loop.add(
      AlertOrder(
        consumer: consumer, holder: holder, rule: rule, cursor: start, form: .lines, limit: .max,
        wait: nil),
      TakenSocket(descriptor: taken) { close(taken) })
    return ends[0]
  }

  private func conversation() throws -> String? {
    try connection.ask("select state || ' ' || messages from quake.conversation")
  }

  @Test func whatWasCommittedComesBeforeWhatIsDueAlsoIfNoNotificationHasCome() throws {
    var rule = AlertRule()
    rule.filter.minimumMagnitude = 5
    rule.settle = .seconds(3600)
    let client = try begin(rule)
    defer { close(client) }
    try connection.run("insert into quake.quake (code, time, magnitude) values ('a', now(), 6)")
    try loop.turn()
    #expect(try conversation() == "waiting 0")
    try connection.run("update quake.quake set magnitude = 3")
    // Nobody has woken the loop: it has to look before it decides.
    try loop.turn()
    #expect(try conversation() == "closed 0")
    loop.endAll()
  }
}
