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

  private func order(_ rule: AlertRule) throws -> AlertOrder {
    let consumer = try #require(RemoteConsumer("duty", of: "ann", session: ""))
    return AlertOrder(
      consumer: consumer, holder: consumer.makeHolder(), rule: rule,
      cursor: HistoryCursor(token: .beginning), form: .lines, limit: .max, wait: nil)
  }

  /// Adds a client over a socket pair.
  ///
  /// - Returns: The client's end.
  private func add(_ order: AlertOrder, to loop: AlertLoop) throws -> Int32 {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let taken = ends[1]
    loop.add([(order, TakenSocket(descriptor: taken) { close(taken) })])
    return ends[0]
  }

  private func conversation() throws -> String? {
    try connection.ask("select state || ' ' || messages from quake.conversation")
  }

  @Test func whatWasCommittedComesBeforeWhatIsDueAlsoIfNoNotificationHasCome() throws {
    var rule = AlertRule()
    rule.filter.minimumMagnitude = 5
    rule.settle = .seconds(3600)
    let order = try order(rule)
    _ = try order.consumer.make(at: order.cursor, rule: "alert=true", over: connection)
    _ = try order.consumer.take(as: order.holder, over: connection)
    let client = try add(order, to: loop)
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

  @Test func allClientsAreEndedThatHaveComeWhileTheDatabaseIsAway() throws {
    let away = PostgresError(kind: .connection, message: "away")
    let loop = AlertLoop(.patient) { throw away }
    let clients = try [add(order(AlertRule()), to: loop), add(order(AlertRule()), to: loop)]
    defer { for client in clients { close(client) } }
    #expect(throws: PostgresError.self) { try loop.turn() }
    loop.endAll()
    for client in clients {
      // A child that another test is starting may have the server's end for a moment.
      var input = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
      try #require(poll(&input, 1, 60_000) == 1)
      var byte: UInt8 = 0
      #expect(recv(client, &byte, 1, 0) == 0)
    }
  }
}
