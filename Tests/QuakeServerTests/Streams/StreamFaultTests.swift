import Basics
import Glibc
import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

@Suite struct StreamFaultTests {
  @Test func aClientThatDoesNotReadDelaysNoOtherAndResumes() throws {
    var settings = StreamSettings.narrow
    settings.windowSize = 300_000
    let server = try ProbedServer(settings)
    let slow = try (0..<8).map { _ in try server.follower() }
    let reader = try server.follower()
    for index in 0..<10 {
      try server.insert("e\(index)x", 100)
      _ = try reader.changes(100)
    }
    try eventually("the clients that do not read are dropped") {
      server.streams.statistics.droppedBehind == 8
    }
    // What they have got is whole events, and the rest follows by the id of the last.
    let history = try server.history()
    for client in slow {
      var got: [String] = []
      while let event = try client.next() { got.append(event.change) }
      #expect(got == Array(history.prefix(got.count)))
      #expect(got.count < history.count)
      let again = try server.client(after: try #require(client.lastID))
      #expect(try again.changes(history.count - got.count) == Array(history.dropFirst(got.count)))
    }
    try eventually("no client is waited for") { server.streams.statistics.blocked == 0 }
  }

  @Test func aClientThatNeverReadsIsDropped() throws {
    var settings = StreamSettings.narrow
    settings.stallLimit = .milliseconds(300)
    let server = try ProbedServer(settings)
    let client = try server.client()
    _ = try client.expect("heartbeat")
    try server.insert("a", 300)
    try eventually("the client is dropped") { server.streams.statistics.droppedStalled == 1 }
    #expect(server.streams.statistics.clients == 0)
  }

  @Test func slowClientsGetALargeBacklogWhole() throws {
    var settings = StreamSettings.narrow
    settings.windowSize = 100_000
    settings.backlogSize = 400_000
    let server = try ProbedServer(settings)
    try server.insert("a", 3000)
    let latest = try server.database.value("select quake.latest_token()")
    try eventually("the history has been read") {
      server.streams.state.cursor?.eventID == latest
    }
    let clients = try (0..<3).map { _ in try server.client(after: "0") }
    let history = try server.history()
    for client in clients { #expect(try client.changes(3000) == history) }
    // Equal backlogs are read once: the parts follow each other.
    #expect(server.streams.statistics.backlogs < 60)
  }

  @Test func backlogsThatNoClientWaitsForAreNotRead() throws {
    let database = try TestDatabase()
    let lock = try database.connect()
    try lock.run(
      """
      insert into quake.quake (code, time, magnitude)
      select 'a' || i, now(), 1 from generate_series(1, 20) i
      """)
    // The server has nothing in memory: each client needs a backlog.
    let server = try ProbedServer(on: database)
    // The first backlogs cannot be read before the other clients have come and gone.
    try lock.run("begin", "lock table quake.change_transaction in access exclusive mode")
    var order = StreamOrder()
    order.start = .after(HistoryCursor(token: .beginning))
    for number in 0..<300 {
      order.filter.minimumMagnitude = 20 + Double(number) / 1000
      order.client = "192.0.2.1"
      _ = try server.client(order)
    }
    order.filter = EventFilter()
    order.client = "192.0.2.2"
    let client = try server.client(order)
    try eventually("the others are forgotten") {
      let statistics = server.streams.statistics
      return statistics.opened == 301 && statistics.clients == 1
    }
    try lock.run("rollback")
    #expect(try client.changes(20) == server.history())
    // Those that were begun while the table was locked, and the one of the last client.
    #expect(server.streams.statistics.backlogs < 20)
  }

  @Test func aFilterThatLetsNothingPassMovesOnWithinABacklog() throws {
    let database = try TestDatabase()
    try database.connect().run(
      """
      do $$ begin
        for i in 1..3000 loop
          insert into quake.quake (code, time, magnitude) values ('a' || i, now(), 1);
          commit;
        end loop;
      end $$
      """)
    var settings = StreamSettings.patient
    settings.backlogTime = .zero
    let server = try ProbedServer(settings, on: database)
    var order = StreamOrder()
    order.start = .after(HistoryCursor(token: .beginning))
    order.filter.minimumMagnitude = 5
    let client = try server.client(order)
    let latest = try database.value("select quake.latest_token()")
    var numbers: [Int64] = []
    while client.lastID != latest {
      let beat = try client.expect("heartbeat")
      numbers.append(try #require(HistoryCursor(eventID: beat.id ?? "")).token.number)
    }
    #expect(numbers.count > 2 && numbers == numbers.sorted())
    try server.insert("b", 9)
    #expect(try client.changes(5).count == 5)
  }

  @Test func streamsGoOnAfterTheDatabaseWasLost() throws {
    let server = try ProbedServer()
    let client = try server.follower()
    for index in 0..<3 {
      try server.insert("a\(index)x", 3)
      try eventually("a session of the streams is ended") {
        try server.database.value(
          """
          select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity
           where datname = current_database() and application_name = 'streams'
          """) != "0"
      }
      try server.insert("b\(index)x", 3)
    }
    #expect(try client.changes(18) == server.history())
  }

  @Test func aServerWithoutADatabaseWaitsForIt() throws {
    let database = try TestDatabase()
    try database.connect().run(
      "insert into quake.quake (code, time) values ('a', now()), ('b', now())")
    let server = try ProbedServer(on: database)
    try eventually("the server follows") { server.streams.state.problem == nil }
    try database.allowConnections(false)
    try eventually("the loss is known") { server.streams.state.problem != nil }
    // In memory is nothing, so the client waits for the database.
    let client = try server.client(after: "0")
    try eventually("the client waits") { server.streams.statistics.waiting == 1 }
    try database.allowConnections(true)
    #expect(try client.changes(2) == server.history())
    try eventually("the database is back") { server.streams.state.problem == nil }
  }

  @Test func anotherHistoryResetsTheClients() throws {
    let database = try TestDatabase()
    let copy: TestDatabase
    do {
      let connection = try database.connect()
      try connection.run("insert into quake.quake (code, time) values ('a', now())")
    }
    copy = try TestDatabase(copying: database)
    let server = try ProbedServer(on: database)
    var order = StreamOrder()
    order.filter.minimumMagnitude = 3
    let clients = [try server.follower(), try server.follower(order)]
    try server.insert("b", 5)
    _ = try clients[0].changes(5)
    _ = try clients[1].changes(3)
    // The copy, which has not the last transaction but another one, takes the place of the database.
    try copy.connect().run(
      "insert into quake.quake (code, time, magnitude) values ('other', now(), 9)")
    let other = try TestDatabase.empty()
    let admin = try other.connect()
    try database.allowConnections(false)
    try eventually("no session is left") {
      try admin.ask(
        "select count(*) from pg_stat_activity where datname in ('\(database.name)', '\(copy.name)')"
      )
        == "0"
    }
    try admin.run(
      "alter database \(database.name) rename to \(database.name)_old",
      "alter database \(copy.name) rename to \(database.name)")
    defer {
      _ = try? admin.run("drop database if exists \(database.name)_old with (force)")
    }
    for (client, events) in zip(clients, [2, 1]) {
      let reset = try client.expect("reset")
      #expect(try JSONLine(reset.data).string("reason") == "diverged")
      for _ in 0..<events { _ = try client.expect("snapshot") }
      _ = try client.expect("heartbeat")
    }
    try server.insert("c", 3)
    #expect(try clients[0].changes(3).last == server.history().last)
  }

  @Test func missingTransactionsResetTheClients() throws {
    let database = try TestDatabase()
    let server = try ProbedServer(on: database)
    var order = StreamOrder()
    order.filter.minimumMagnitude = 9
    let clients = [try server.follower(), try server.follower(order)]
    try server.insert("a", 2)
    _ = try clients[0].changes(2)
    // Several transactions come at once, as by replication, and the first ones do not come.
    try server.run(
      "begin", "set constraints all immediate",
      "insert into quake.quake (code, time) values ('b', now())",
      "insert into quake.quake (code, time) values ('c', now())",
      "insert into quake.quake (code, time) values ('d', now())",
      "delete from quake.change_transaction t using quake.quake_version v where v.code in ('b', 'c') and v.transaction_id = t.transaction_id",
      "commit")
    for client in clients {
      var event = try client.next()
      // The filter passes no change, so the client gets heartbeats before.
      while event?.name == "heartbeat" { event = try client.next() }
      #expect(event?.name == "reset")
      let reset = try JSONLine(event?.data ?? "")
      #expect(reset.string("reason") == "diverged")
      #expect(reset.string("message")?.hasPrefix("history diverged at token ") == true)
      #expect(reset.string("detail")?.contains(" names ") == true)
    }
    // What comes after the gap is read again.
    let late = try server.follower()
    try server.insert("e", 1)
    #expect(try late.changes(1).count == 1)
  }

  // MARK: - The end

  @Test func streamsEndBetweenTwoEvents() throws {
    let server = try ProbedServer(.narrow)
    let live = try (0..<3).map { _ in try server.follower() }
    try server.insert("a", 400)
    var order = StreamOrder()
    order.start = .snapshot
    let backlogged = try server.client(order)
    order.form = .lines
    let lines = try server.client(order)
    try eventually("all sockets are full") { server.streams.statistics.blocked == 5 }
    let thread = BackgroundThread { server.streams.stop(within: ToolProcess.patience) }
    let history = try server.history()
    for client in live {
      var got: [String] = []
      while let event = try client.next() { got.append(event.change) }
      #expect(got == Array(history.prefix(got.count)))
      #expect(got.count > 0 && got.count < history.count)
      #expect(client.rest == "")
    }
    for client in [backlogged, lines] {
      while let event = try client.next() { _ = try JSONLine(event.data) }
      #expect(client.rest == "")
    }
    try thread.join()
    #expect(try server.client().next() == nil)
  }

  @Test func streamsAreCutAfterTheDrain() throws {
    let server = try ProbedServer(.narrow)
    let client = try server.follower()
    try server.insert("a", 400)
    try eventually("the socket is full") { server.streams.statistics.blocked == 1 }
    let start = MonotonicClock.now()
    server.streams.stop(within: .milliseconds(200))
    if Tools.isSoak { #expect(MonotonicClock.now() - start < .seconds(2)) }
    // The client has not read anything yet.
    try eventually("the stream is cut") { server.streams.statistics.clients == 0 }
    while try client.next() != nil {}
  }
}
