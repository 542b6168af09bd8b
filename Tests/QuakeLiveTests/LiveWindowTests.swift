import QuakeModel
import QuakeQuery
import QuakeStore
import TestSupport
import Testing

@Suite struct LiveWindowTests {
  @Test func aLiveWindowShowsItsRowsAloneAndFollowsChanges() async throws {
    let database = try LiveDatabase()
    let connection = try database.test.connect()
    try connection.run(
      """
      insert into quake.quake (code, time, magnitude)
      select 'w' || n, now(), n from generate_series(1, 9) n
      """)
    var query = EventQuery()
    query.order = [.greatestFirst]
    query.columns = [.code, .magnitude]
    query.filter.minimumMagnitude = 2
    query.limit = 3
    var iterator = database.live.live(query).makeAsyncIterator()
    var rows: [String] = []

    func next() async throws -> LiveEvents.Update {
      let update = try #require(try await iterator.next())
      update.difference.apply(to: &rows) {
        "\(update.events[$0].text(.code) ?? "") \(update.events[$0].double(.magnitude) ?? 0)"
      }
      return update
    }

    let first = try await next()
    #expect(first.generation == 0 && first.count == 8 && first.reset == nil)
    #expect(rows == ["w9 9.0", "w8 8.0", "w7 7.0"])
    #expect(first.events.allSatisfy { !$0.has(.time) })

    // Neither changes the window or the number of events.
    try connection.run("update quake.quake set magnitude = 2.5 where code = 'w3'")
    try connection.run("update quake.quake set magnitude = 0 where code = 'w1'")
    // A revision within the window, one that moves, an event that comes, and one that goes.
    try connection.run("update quake.quake set magnitude = 8.5 where code = 'w8'")
    let second = try await next()
    #expect(second.generation == 1 && second.count == 8)
    #expect(rows == ["w9 9.0", "w8 8.5", "w7 7.0"])
    #expect(second.difference.modifications == [1] && second.difference.insertions.isEmpty)

    try connection.run("update quake.quake set magnitude = 10 where code = 'w7'")
    let third = try await next()
    #expect(rows == ["w7 10.0", "w9 9.0", "w8 8.5"])
    #expect(third.difference.moves.map(\.from) == [2] && third.difference.moves.map(\.to) == [0])

    try connection.run(
      "insert into quake.quake (code, time, magnitude) values ('new', now(), 9.5)",
      "delete from quake.quake where code = 'w7'")
    var last = try await next()
    // The two transactions may be seen together or one after the other.
    if rows != ["new 9.5", "w9 9.0", "w8 8.5"] { last = try await next() }
    #expect(rows == ["new 9.5", "w9 9.0", "w8 8.5"])
    #expect(last.count == 8)

    // The next window begins where this one ends.
    query.after = last.next
    var below = database.live.live(query).makeAsyncIterator()
    let update = try #require(try await below.next())
    #expect(update.events.compactMap { $0.text(.code) } == ["w6", "w5", "w4"])

    try connection.run("truncate quake.quake, quake.quake_alias")
    let empty = try await next()
    #expect(rows.isEmpty && empty.count == 0 && empty.next == nil)
  }

  @Test func aWindowTellsThatNothingFollowsItAnyMore() async throws {
    let database = try LiveDatabase()
    try await OwnThread.run {
      let connection = try database.test.connect()
      try connection.run(
        """
        insert into quake.quake (code, time, magnitude)
        select 'w' || n, now(), n from generate_series(1, 6) n
        """)
      var query = EventQuery(EventFilter(), order: [.greatestFirst], limit: 2)
      query.after = try await database.live.events(query).next
      var iterator = database.live.live(query).makeAsyncIterator()
      #expect(try await iterator.next()?.next != nil)
      // Neither the events of the window nor their number change.
      try connection.run(
        """
        with gone as (delete from quake.quake where magnitude <= 2)
        insert into quake.quake (code, time, magnitude) values ('w7', now(), 7), ('w8', now(), 8)
        """)
      let update = try #require(try await iterator.next())
      #expect(update.next == nil && update.difference.isEmpty && update.count == 6)
    }
  }

  @Test func aDeletedEventThatIsInsertedAgainLeavesTheListOfTheDeleted() async throws {
    let database = try LiveDatabase()
    try await OwnThread.run {
      let connection = try database.test.connect()
      try connection.insertQuakes("strong", magnitude: 6)
      try connection.run("delete from quake.quake")
      var query = EventQuery(where: .magnitude >= 5)
      query.past = .deleted
      var iterator = database.live.live(query).makeAsyncIterator()
      #expect(try await iterator.next()?.events.map(\.id) == ["strong1"])
      try connection.insertQuakes("strong", magnitude: 1)
      #expect(try await iterator.next()?.events.isEmpty == true)
    }
  }
}
