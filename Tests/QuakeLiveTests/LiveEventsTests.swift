import Glibc
import Postgres
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@testable import Basics
@testable import QuakeHistory
@testable import QuakeStore

@Suite struct LiveEventsTests {
  private let database: LiveDatabase

  init() throws {
    database = try LiveDatabase()
  }

  private static func codes(_ update: LiveEvents.Update?) -> [String] {
    update?.events.compactMap { $0.text(.code) } ?? []
  }

  /// Runs `body` when the library's connection waits for a notification: the demand comes first, the change
  /// after it.
  private static func whenWaiting(
    _ database: LiveDatabase, _ body: @escaping @Sendable (Connection) throws -> Void
  ) -> BackgroundThread {
    BackgroundThread {
      let connection = try database.test.connect()
      guard try connection.eventually(LiveDatabase.idle(after: "select t.token, v.id")) else {
        throw OwnThread.TimedOut()
      }
      try body(connection)
    }
  }

  @Test func aLiveListMakesOneDifferenceOfManyTransactions() async throws {
    try await database.run { connection in
      try connection.insertQuakes("a", 100)
      var iterator = database.live.live().makeAsyncIterator()
      #expect(Self.codes(try await iterator.next()).count == 100)
      // More than a page of the history.
      for number in 1...150 {
        try connection.insertQuakes("n\(number)x", 5)
        try connection.run("update quake.quake set felt = \(number) where code = 'a1'")
      }
      let update = try await iterator.next()
      #expect(update?.events.count == 850)
      #expect(update?.difference.insertions.count == 750)
      #expect(update?.difference.modifications.count == 1)
      #expect(update?.token == (try HistoryReader.latestToken(over: connection)))
      #expect(update?.generation == 1)
      // As many as a page has rows: the end comes after it.
      try connection.insertQuakes("page", HistoryReader.pageSize)
      #expect(try await iterator.next()?.difference.insertions.count == HistoryReader.pageSize)
      // Nothing is left: the next one is the next transaction's.
      try connection.insertQuakes("last")
      #expect(try await iterator.next()?.difference.insertions.count == 1)
    }
  }

  @Test func aLiveListHasNoUpdateForChangesThatCancelOut() async throws {
    try await database.run { connection in
      try connection.insertQuakes("large", 2, magnitude: 7)
      let query = EventQuery(where: .magnitude >= 6, order: [.greatestFirst])
      var iterator = database.live.live(query).makeAsyncIterator()
      #expect(Self.codes(try await iterator.next()) == ["large1", "large2"])
      // Each of these wakes it, and none but the last is worth telling.
      let writer = Self.whenWaiting(database) { connection in
        try connection.insertQuakes("small", 3, magnitude: 2)
        try connection.run("update quake.quake set felt = 1 where code = 'small2'")
        try connection.transaction {
          try connection.run(
            "update quake.quake set magnitude = 5 where code = 'large2'",
            "update quake.quake set magnitude = 7 where code = 'large2'")
        }
        try connection.run("update quake.quake set magnitude = 6.5 where code = 'large1'")
      }
      let update = try await iterator.next()
      try writer.join()
      #expect(update?.token == (try HistoryReader.latestToken(over: connection)))
      #expect(update?.generation == 1)
      #expect(Self.codes(update) == ["large2", "large1"])
      #expect(update?.difference.moves.count == 1)
      try connection.run("update quake.quake set magnitude = 5 where code = 'large2'")
      #expect(try await iterator.next()?.difference.deletions == [0])
    }
  }

  @Test func hasWithdrawnAndSupersededEventsOnlyIfTheQueryAsksForThem() async throws {
    try await database.run { connection in
      try connection.insertQuakes("a", 3)
      try connection.run("update quake.quake set withdrawn_at = now() where code = 'a1'")
      var query = EventQuery()
      query.columns = [.code, .magnitude]
      var iterator = database.live.live(query).makeAsyncIterator()
      query.past = [.superseded, .withdrawn]
      var all = database.live.live(query).makeAsyncIterator()
      #expect(Self.codes(try await iterator.next()) == ["a3", "a2"])
      #expect(Self.codes(try await all.next()) == ["a3", "a2", "a1"])
      try connection.run(
        "update quake.quake set superseded_by = 'a2', place = 'here' where code = 'a3'")
      let update = try await iterator.next()
      #expect(Self.codes(update) == ["a2"] && update?.count == 1)
      // It has the columns of the query and of its order.
      #expect(update?.events.first?.magnitude == 5 && update?.events.first?.place == nil)
      try connection.run("update quake.quake set withdrawn_at = null where code = 'a1'")
      #expect(Self.codes(try await iterator.next()) == ["a2", "a1"])
      // No column that this list has has changed.
      try connection.insertQuakes("b")
      #expect(Self.codes(try await all.next()) == ["a3", "a2", "a1", "b1"])
    }
  }

  @Test func aLiveListIsReadAnewWhenItsHistoryIsAnotherOne() async throws {
    try await database.run { connection in
      try connection.insertQuakes("a", 5)
      var iterator = database.live.live().makeAsyncIterator()
      #expect(try await iterator.next()?.events.count == 5)
      try connection.insertQuakes("b", 1)
      #expect(try await iterator.next()?.events.count == 6)
      // As after a restore to before b1, and another change instead of it.
      try connection.run(
        "set session_replication_role = replica", "delete from quake.quake where code = 'b1'",
        "insert into quake.quake (code, time) values ('c1', '2030-01-01Z')",
        "update quake.change_transaction set nonce = '00000000' where token = 2",
        """
        select pg_terminate_backend(pid, 10000) from pg_stat_activity
         where datname = current_database() and application_name = 'live'
        """)
      let update = try await iterator.next()
      #expect(Self.codes(update) == ["c1", "a5", "a4", "a3", "a2", "a1"])
      #expect(update?.difference.deletions == [5] || update?.difference.deletions == [0])
      #expect(update?.difference.insertions == [0])
      #expect(update?.difference.modifications == [])
      #expect(update?.reset?.kind == .token(.diverged))
      #expect(update?.token == ChangeToken(number: 2, nonce: "00000000"))
      // And is followed from there.
      try connection.run("set session_replication_role = origin")
      try connection.insertQuakes("d")
      let next = try await iterator.next()
      #expect(next?.reset == nil && next?.difference.insertions.count == 1)
    }
  }

  @Test func aLiveListIsReadAnewOnceWhenItsNextChangesWerePurged() async throws {
    try await database.run { connection in
      try connection.insertQuakes("a", 5)
      var iterator = database.live.live().makeAsyncIterator()
      #expect(try await iterator.next()?.events.count == 5)
      // While the consumer is busy, and without a loss of the connection.
      try connection.insertQuakes("b", 2)
      try connection.run("delete from quake.quake where code = 'a1'")
      let floor = try HistoryReader.latestToken(over: connection)
      try connection.insertQuakes("c")
      _ = try Retention(connection: connection).purge(before: .token(floor))
      let update = try await iterator.next()
      #expect(update?.reset?.kind == .token(.expired))
      #expect(update?.events.count == 7)
      #expect(update?.difference.deletions.count == 1)
      #expect(update?.difference.insertions.count == 3)
      try connection.insertQuakes("d")
      let next = try await iterator.next()
      #expect(next?.reset == nil && next?.difference.insertions.count == 1)
      // A stream of changes has nothing to begin anew with.
      let error = await #expect(throws: StoreError.self) {
        try await database.live.changes(after: .beginning).first(1) { $0.label }
      }
      #expect(error?.kind == .token(.expired))
    }
  }

  /// Orders of whole lists, one for each seed.
  private static let orders: [[EventOrder]] = [
    [.newestFirst], [EventOrder(.time)], [.greatestFirst], [EventOrder(.magnitude)],
    [EventOrder(.felt, .descending), .greatestFirst],
  ]

  @Test(arguments: [0, 1, 2, 3, 4] as [UInt64])
  func aLiveListIsAlwaysTheTableAtItsToken(seed: UInt64) async throws {
    let database = database
    let order = Self.orders[Int(seed)]
    var filter = EventFilter()
    if seed % 2 == 0 { filter.minimumMagnitude = 3 }
    let live = database.live.live(EventQuery(filter, order: order))
    let rounds = 3
    let seen = Tally()
    try await OwnThread.run { [filter] in
      let writers = BackgroundThread {
        try Self.write(to: database.test, seed: seed, rounds: rounds, seen: seen)
      }
      let connection = try database.test.connect()
      var copy: [EventRecord] = []
      var updates = 0
      for try await update in live {
        updates += 1
        update.difference.apply(to: &copy) { update.events[$0] }
        #expect(copy == update.events)
        let expected = try Self.table(connection, at: update.token, order: order)
          .filter(filter.accepts)
        #expect(update.events == expected)
        #expect(update.reset == nil && update.generation == updates - 1)
        while Self.codes(update).contains("end\(seen.total)") { seen.add(1) }
        if seen.total == rounds { break }
      }
      try writers.join()
    }
  }

  /// Each round ends with an event that the consumer must have seen before the next begins.
  private static func write(
    to database: TestDatabase, seed: UInt64, rounds: Int, seen: Tally
  ) throws {
    for round in 0..<rounds {
      try BackgroundThread.run(3) { writer in
        try write(database.connect(), seed: seed * 100 + UInt64(round * 10 + writer))
      }
      try database.connect().run(
        "insert into quake.quake (code, time, magnitude) values ('end\(round)', '2020-01-01Z', 9)")
      let deadline = Deadline(after: ToolProcess.patience)
      while seen.total <= round {
        guard !deadline.hasPassed else { throw OwnThread.TimedOut() }
        sched_yield()
      }
    }
  }

  private static func write(_ connection: Connection, seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    for _ in 0..<20 {
      let code = "'e\(Int.random(in: 0..<40, using: &generator))'"
      let magnitude = Int.random(in: 0..<7, using: &generator)
      let second = Int.random(in: 0..<50, using: &generator)
      do {
        try connection.transaction {
          for _ in 0..<Int.random(in: 1...3, using: &generator) {
            switch Int.random(in: 0..<30, using: &generator) {
            case 0: try connection.run("truncate quake.quake")
            case 1..<8: try connection.run("delete from quake.quake where code = \(code)")
            case 8..<12:
              try connection.run("update quake.quake set felt = \(second) where code > \(code)")
            default:
              try connection.run(
                """
                insert into quake.quake (code, time, magnitude)
                values (\(code), timestamptz '2024-01-01Z' + interval '\(second) s',
                        nullif(\(magnitude), 0))
                on conflict (code) do update
                set time = excluded.time, magnitude = excluded.magnitude
                """)
            }
          }
        }
      } catch let error as PostgresError where ["40001", "40P01"].contains(error.sqlState) {
        // What concurrency brings with it: an ordinary rollback.
      }
    }
  }

  @Test func aLiveListNeedsNoMoreMemoryForAnEventThanStated() async throws {
    let database = database
    let count = 50_000
    let sizes = try await OwnThread.run(within: .seconds(900)) {
      // Texts as long as USGS's.
      try database.test.connect().execute(
        """
        insert into quake.quake (
          code, net, net_code, source, type, status, magnitude, magnitude_type, place, time, updated,
          longitude, latitude, depth, title, url, detail, tsunami, sig, nst, dmin, rms, gap, ids,
          sources, types)
        select 'us7000' || i, 'us', '7000' || i, 'usgs', 'earthquake', 'reviewed', 4.5, 'mb',
               repeat('p', 40), '2024-01-01Z'::timestamptz + i * interval '1 s', '2024-01-02Z',
               1, 2, 3, repeat('t', 48), repeat('u', 62), repeat('d', 75), 0, 312, 40, 1, 0.5, 80,
               ',us7000' || i || ',', ',us,', ',origin,phase-data,'
          from generate_series(1, $1::int) i
        """, [.integer(Int64(count))])
      return try LiveProbe.run(["list", database.test.conninfo, "\(count)"])
    }
    try #require(sizes.count == 2, "\(sizes)")
    let bytes = (sizes[1] - sizes[0]) * 1024 / count
    #expect((500...1_500).contains(bytes), "\(bytes) bytes an event")
  }

  /// The list as the database has it.
  private static func table(
    _ connection: Connection, at token: ChangeToken, order: [EventOrder]
  ) throws -> [EventRecord] {
    let expression = order.map { "\($0.column.name) \($0.direction.rawValue) nulls last" }
      .joined(separator: ", ")
    let columns = EventColumn.allCases.map(\.name).joined(separator: ", ")
    let rows = try connection.execute(
      SQL(
        trusted: """
          select \(columns) from quake.as_of($1) order by \(expression), code collate "C"
          """), [.text(token.description)], format: .binary)
    return try (0..<rows.rowCount).map { try rows.record($0, firstColumn: 0) }
  }
}
