import Basics
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

@Suite struct ChangeStreamTests {
  @Test func eachChangeComesOnceWithItsCursor() throws {
    let server = try ProbedServer()
    let client = try server.client()
    #expect(try client.expect("heartbeat").id == "0")
    try server.insert("a", 3)
    try server.insert("b", 1)
    let events = try (0..<4).map { _ in try client.expect("message") }
    #expect(try events.map(\.change) == server.history())
    let tokens = try server.database.tokens()
    #expect(
      events.map(\.id) == ["\(tokens[0])-1", "\(tokens[0])-2", tokens[0], tokens[1]])
  }

  @Test func aClientResumesWithinATransactionFromMemoryAndFromTheDatabase() throws {
    let database = try TestDatabase()
    try database.connect().run(
      "insert into quake.quake (code, time) values ('a', now()), ('b', now())")
    let server = try ProbedServer(on: database)
    let witness = try server.follower()
    try server.insert("b", 5)
    try server.insert("c", 1)
    var ids: [String] = []
    for _ in 0..<6 { ids.append(try #require(try witness.expect("message").id)) }
    let history = try server.history()
    // Another server has nothing in memory.
    let other = try ProbedServer(on: server.database)
    for (index, id) in ids.enumerated() {
      for each in [server, other] {
        let client = try each.client(after: id)
        let rest = Array(history.dropFirst(2 + index + 1))
        #expect(try client.changes(rest.count) == rest)
        #expect(try client.expect("heartbeat").id == ids.last)
      }
    }
    #expect(other.streams.statistics.backlogs > 0)
    #expect(server.streams.statistics.backlogs == 0)
  }

  @Test func aFilteredClientGetsItsChangesAndMovesOnByHeartbeats() throws {
    var settings = StreamSettings.patient
    settings.heartbeat = .milliseconds(200)
    let server = try ProbedServer(settings)
    var order = StreamOrder()
    order.filter.minimumMagnitude = 5
    let client = try server.follower(order)
    // Magnitudes 1 to 9: five pass, the first four do not.
    try server.insert("a", 9)
    #expect(try client.changes(5) == Array(server.history().suffix(5)))
    try server.insert("b", 3)
    let latest = try server.database.value("select quake.latest_token()")
    while client.lastID != latest { _ = try client.expect("heartbeat") }
  }

  @Test func equalFiltersAreOne() throws {
    let server = try ProbedServer()
    var order = StreamOrder()
    order.filter.places = ["x", "y"]
    let clients = try (0..<5).map { _ in try server.client(order) }
    order.filter.places = ["z"]
    let other = try server.client(order)
    for client in clients + [other] { _ = try client.expect("heartbeat") }
    try eventually("six clients have two filters") {
      let statistics = server.streams.statistics
      return statistics.filters == 2 && statistics.clients == 6
    }
  }

  @Test func aSnapshotComesBeforeItsChanges() throws {
    let server = try ProbedServer()
    try server.insert("a", 3)
    var order = StreamOrder()
    order.start = .snapshot
    let client = try server.client(order)
    let reset = try client.expect("reset")
    #expect(reset.id == nil)
    #expect(try JSONLine(reset.data).string("reason") == "snapshot")
    for _ in 0..<3 {
      let event = try client.expect("snapshot")
      #expect(event.id == nil)
      #expect(event.change.contains(" snapshot "))
    }
    let token = try server.database.value("select quake.latest_token()")
    #expect(try client.expect("heartbeat").id == token)
    try server.insert("b")
    #expect(try client.changes(1) == Array(server.history().suffix(1)))
  }

  /// What a client does that keeps a list as the manual shows it.
  private struct ListOfClient {
    var codes: Set<String> = []

    mutating func take(_ event: StreamProbe.Event) throws {
      let members = try JSONLine(event.data)
      switch members.string("op") {
      case "reset", "truncate": codes = []
      case "heartbeat": break
      case "delete": if let code = members.string("code") { codes.remove(code) }
      default: if let code = members["new"]?.string("code") { codes.insert(code) }
      }
    }
  }

  @Test(arguments: [StreamForm.events, .lines])
  func aSnapshotThatWasCutOffLeavesNothingBehind(form: StreamForm) throws {
    let server = try ProbedServer()
    try server.insert("a", 5)
    var order = StreamOrder()
    order.form = form
    order.start = .snapshot
    var list = ListOfClient()
    var client = try server.client(order)
    // The beginning, and three of five events.
    for _ in 0..<4 { try list.take(try #require(try client.next())) }
    #expect(list.codes.count == 3 && client.lastID == nil)
    try server.run("delete from quake.quake where code = '\(list.codes.min() ?? "")'")
    // Another server has no snapshot that was read just now.
    let other = try ProbedServer(on: server.database)
    client = try other.client(order)
    while true {
      let event = try #require(try client.next())
      try list.take(event)
      if event.data.contains("\"op\":\"heartbeat\"") { break }
    }
    #expect(
      list.codes.sorted() == (try server.database.column("select code from quake.quake order by 1"))
    )
    #expect(list.codes.count == 4)
  }

  @Test func aStreamEndsAfterItsLimit() throws {
    let server = try ProbedServer()
    try server.insert("a", 10)
    var order = StreamOrder()
    order.start = .after(HistoryCursor(token: .beginning))
    order.limit = 4
    // From memory of this server, and from the database by another.
    for each in [server, try ProbedServer(on: server.database)] {
      for form in [StreamForm.events, .lines] {
        order.form = form
        let client = try each.client(order)
        #expect(try client.changes(4) == Array(server.history().prefix(4)))
        #expect(try client.next() == nil)
        #expect(client.rest == "")
      }
    }
  }

  // MARK: - Long polls

  @Test func aLongPollEndsWithTheFirstChanges() throws {
    let server = try ProbedServer()
    var order = StreamOrder()
    order.form = .lines
    order.wait = .seconds(3600)
    let client = try server.client(order)
    try eventually("the client waits") {
      server.streams.statistics.clients == 1 && server.streams.statistics.waiting == 0
    }
    try server.insert("a", 2)
    #expect(try client.changes(2) == server.history())
    let last = try #require(try client.next())
    #expect(last.data.contains("\"op\":\"heartbeat\""))
    #expect(try client.next() == nil)
    // The next one begins where that one ended, and finds something at once.
    try server.insert("b")
    let token = try #require(try JSONLine(last.data).string("token"))
    order.start = .after(try #require(HistoryCursor(token)))
    #expect(try server.client(order).changes(1) == Array(server.history().suffix(1)))
  }

  @Test func aLongPollWithoutChangesEndsInAHeartbeat() throws {
    let server = try ProbedServer()
    var order = StreamOrder()
    order.wait = .milliseconds(100)
    let client = try server.client(order)
    #expect(try client.expect("heartbeat").id == "0")
    #expect(try client.next() == nil)
  }

  // MARK: - Invalid cursors

  @Test(arguments: [
    ("1.00000000", "diverged"), ("99.12345678", "future"), ("1.00000000-3", "diverged"),
  ])
  func anInvalidCursorIsAnsweredByOneReset(cursor: String, reason: String) throws {
    let server = try ProbedServer()
    try server.insert("a", 2)
    let client = try server.client(after: cursor)
    let reset = try client.expect("reset")
    #expect(reset.id == nil)
    let members = try JSONLine(reset.data)
    #expect(members.string("reason") == reason)
    #expect(members.string("after") == cursor.split(separator: "-").first.map(String.init))
    for _ in 0..<2 { _ = try client.expect("snapshot") }
    let id = try #require(try client.expect("heartbeat").id)
    try server.insert("b")
    #expect(try client.changes(1) == Array(server.history().suffix(1)))
    // Not in a loop: the id that the client has now is valid.
    let again = try server.client(after: id)
    #expect(try again.changes(1) == Array(server.history().suffix(1)))
    #expect(server.streams.statistics.resets == 1)
  }

  @Test func anExpiredCursorIsAnsweredByAReset() throws {
    let server = try ProbedServer()
    try server.insert("a", 2)
    let old = try server.database.value("select quake.latest_token()")
    for index in 0..<3 { try server.insert("b\(index)") }
    try server.run(
      "select quake.raise_history_floor(quake.latest_token(), interval '0')",
      "select quake.purge_history(1000)")
    let other = try ProbedServer(on: server.database)
    let client = try other.client(after: old)
    #expect(try JSONLine(client.expect("reset").data).string("reason") == "expired")
    for _ in 0..<5 { _ = try client.expect("snapshot") }
    _ = try client.expect("heartbeat")
  }
}
