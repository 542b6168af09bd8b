import Basics
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

/// Clients that are sent away: because their streams are old, or because the server will end.
@Suite struct StreamLeavingTests {
  /// Each client is to leave when it has come.
  private static var short: StreamSettings {
    var settings = StreamSettings.patient
    settings.heartbeat = .milliseconds(200)
    settings.longestAge = .milliseconds(1)
    return settings
  }

  @Test func anOldStreamEndsWithACursorAndAWholeList() throws {
    var settings = Self.short
    settings.socketBuffer = 8192
    let server = try ProbedServer(settings)
    try server.insert("a", 400)
    let latest = try server.database.value("select quake.latest_token()")
    try eventually("the history has been read") {
      server.streams.state.cursor?.eventID == latest
    }
    let new = try server.client()
    let first = try new.expect("heartbeat")
    #expect(first.id == latest)
    #expect(try new.next() == nil)
    var order = StreamOrder()
    order.start = .snapshot
    let listed = try server.client(order)
    _ = try listed.expect("reset")
    for _ in 0..<400 { _ = try listed.expect("snapshot") }
    #expect(try listed.expect("heartbeat").id == first.id)
    while let event = try listed.next() { #expect(event.name == "heartbeat") }
    order.start = .now
    order.wait = .seconds(3600)
    order.form = .lines
    let poll = try server.client(order)
    #expect(try JSONLine(poll.next()?.data ?? "").string("token") == first.id)
    #expect(try poll.next() == nil)
  }

  @Test func clientsThatAreSentAwayAgainAndAgainLoseNothing() throws {
    let server = try ProbedServer(Self.short)
    var seen: [String] = []
    var last = "0"
    for round in 0..<4 {
      try server.insert("a\(round)x", 700)
      let history = try server.history()
      while seen.count < history.count {
        let client = try server.client(after: last)
        while let event = try client.next() {
          if event.name == "message" { seen.append(event.change) }
        }
        #expect(client.rest == "")
        last = client.lastID ?? last
      }
      #expect(seen == history)
    }
  }

  @Test func theStreamsOfAServerThatEndsLeaveOneAfterTheOther() throws {
    let server = try ProbedServer()
    let clients = try (0..<5).map { _ in try server.follower() }
    // Of an hour, only the turn of the first has come.
    server.streams.sendAway(over: .seconds(3600))
    #expect(try clients[0].next() == nil)
    #expect(try server.client().next() == nil)
    try server.insert("a", 700)
    let history = try server.history()
    for client in clients.dropFirst() {
      #expect(try client.changes(300) == Array(history.prefix(300)))
    }
    server.streams.sendAway(over: .zero)
    for client in clients.dropFirst() {
      var got = Array(history.prefix(300))
      while let event = try client.next() { got.append(event.change) }
      #expect(client.rest == "")
      // Another server has the rest.
      let other = try ProbedServer(on: server.database)
      let rest = try other.client(after: try #require(client.lastID))
      #expect(try got + rest.changes(history.count - got.count) == history)
    }
  }
}
