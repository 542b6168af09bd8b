import Foundation
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeStore
import TestSupport
import Testing

@Suite struct EventQueriesTests {
  private let database: LiveDatabase

  init() throws {
    database = try LiveDatabase()
    try database.test.connect().run(
      """
      insert into quake.quake (code, time, magnitude, place, net)
      select 'e' || n, '2024-01-01Z'::timestamptz + n * interval '1 h', n % 7,
             '5 km N of ' || (array['A, Chile', 'B, Chile', 'C, Peru'])[n % 3 + 1], (array['us', 'hv'])[n % 2 + 1]
        from generate_series(0, 99) n
      """)
  }

  private var query: EventQuery {
    var query = EventQuery()
    query.order = [.greatestFirst]
    query.columns = [.code, .magnitude]
    return query
  }

  @Test func aListHasTheTokenAfterWhichToFollow() async throws {
    let connection = try database.test.connect()
    try connection.run("update quake.quake set withdrawn_at = now() where code = 'e12'")
    try connection.run("update quake.quake set superseded_by = 'e7' where code = 'e6'")
    var query = EventQuery()
    query.past = [.superseded, .withdrawn]
    let all = try await database.live.events(query)
    #expect(all.events.count == 100 && all.events.first?.code == "e99")
    #expect(try await database.live.events().events.count == 98)
    query.filter.minimumMagnitude = 5
    query.filter.places = ["Chile"]
    let some = try await database.live.events(query)
    #expect(some.events == all.events.filter(query.filter.accepts) && !some.events.isEmpty)
    #expect(some.events.contains { $0.withdrawnAt != nil })
    #expect(some.events.contains { $0.supersededBy != nil })
    #expect(some.token == (try await database.live.latestToken()))
  }

  @Test func eventsAreCountedAndPagedAfterTheLastOne() async throws {
    let live = database.live
    #expect(try await live.count(query) == 100)
    var query = query
    query.filter.minimumMagnitude = 3
    query.limit = 40
    let first = try await live.events(query)
    #expect(first.events.count == 40 && first.events[0].double(.magnitude) == 6)
    query.after = first.next
    let second = try await live.events(query)
    #expect(second.events.count == 16 && second.next == nil)
    let codes = (first.events + second.events).compactMap { $0.text(.code) }

    query.after = nil
    query.limit = nil
    var sizes: [Int] = []
    var all: [String] = []
    for try await page in live.pages(query, size: 25) {
      sizes.append(page.count)
      all += page.compactMap { $0.code }
    }
    #expect(sizes == [25, 25, 6] && all == codes)
    query.limit = 30
    sizes = []
    for try await page in live.pages(query, size: 25) { sizes.append(page.count) }
    #expect(sizes == [25, 5])
    query.filter.minimumMagnitude = 9
    for try await _ in live.pages(query) { Issue.record("there is no page") }
  }

  @Test func aQueryMayReachBeforeAndAfterAllTimes() async throws {
    let live = database.live
    let (first, last) = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
    #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)) == first)
    #expect(Timestamp(Date(timeIntervalSince1970: .nan)) == first)
    #expect(Timestamp(Date(timeIntervalSince1970: 1e15)) == last)
    var query = query
    (query.filter.earliestTime, query.filter.endTime) = (first, last)
    query.filter.conditions = [.time >= Timestamp(.distantPast), .time < last]
    query.changedSince = Timestamp(.distantPast)
    #expect(try await live.count(query) == 100)
    query.asOf = .time(last)
    query.changedSince = nil
    query.order = [.newestFirst]
    query.limit = 3
    #expect(try await live.events(query).events.count == 3)
    var beyond = EventRecord()
    (beyond.code, beyond.time) = ("x", last)
    query.after = EventCursor(of: beyond, in: query.order)
    #expect(try await live.events(query).events.count == 3)
    query.asOf = .time(first)
    #expect(try await live.events(query).events.isEmpty)
    query.asOf = nil
    query.asOfFeed = last
    #expect(try await live.events(query).events.count == 3)
  }

  @Test func aQueryWithoutAnAnswerIsAnError() async throws {
    let live = database.live
    func edited(_ edit: (inout EventQuery) -> Void) -> EventQuery {
      var query = query
      edit(&query)
      return query
    }
    var attempts: [@Sendable () async throws -> Void] = [
      { _ = try await live.groups(EventQuery(), by: .day, of: .place) },
      { _ = try await live.statistics(EventQuery(), of: .time) },
    ]
    for query in [
      edited { $0.limit = -1 }, edited { $0.offset = -1 },
      edited { $0.filter.conditions = [.place >= 5] },
      edited { $0.filter.conditions = [.any([.magnitude == "5"])] },
      edited { $0.filter.conditions = [.code < Timestamp.now()] },
    ] {
      attempts.append { _ = try await live.events(query) }
      attempts.append { _ = try await live.live(query).first(1) { $0.count } }
    }
    for width in [0, -1, .nan, .infinity] {
      attempts.append { _ = try await live.groups(EventQuery(), by: .magnitude(classWidth: width)) }
      attempts.append {
        _ = try await live.sections(EventQuery(), by: .magnitude(classWidth: width))
      }
    }
    for attempt in attempts {
      let error = await #expect(throws: StoreError.self) { try await attempt() }
      #expect(error?.kind == .usage)
    }
    await #expect(throws: PostgresError.self) {
      try await QuakeDatabase(database.test.conninfo + "\0x", applicationName: "x").check()
    }
  }

  @Test func placesThatLookAlikeHaveSectionsOfTheirOwn() async throws {
    try database.test.connect().run(
      "delete from quake.quake",
      """
      insert into quake.quake (code, time, place)
      select n::text, now(), (array[U&'\\00E9', U&'e\\0301'])[n % 2 + 1] from generate_series(1, 6) n
      """)
    let sections = try await database.live.sections(EventQuery(), by: .place)
    #expect(sections.map(\.events.count) == [3, 3])
    let deepest = try await database.live.withConnection { connection in
      try connection.row("select max(depth) from quake.quake", as: Double?.self)
    }
    #expect(deepest == nil)
  }

  @Test func eventsAtAPointThatTheHistoryLacksAreAnError() async throws {
    var query = query
    query.asOf = .number(99)
    await #expect(throws: StoreError.self) { try await database.live.events(query) }
  }
}
