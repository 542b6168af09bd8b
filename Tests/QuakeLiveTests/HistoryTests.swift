import Foundation
import Postgres
import QuakeHistory
import QuakeModel
import QuakeStore
import TestSupport
import Testing

@Suite struct HistoryTests {
  private let database: LiveDatabase
  private let connection: Connection

  init() throws {
    database = try LiveDatabase()
    connection = try database.test.connect()
    try connection.insertQuakes("a", 2)
    try connection.insertQuakes("b", 1_300)
    try connection.run("delete from quake.quake where code = 'a1'")
  }

  @Test func pastChangesComeInEitherOrderUpToTheirLimit() async throws {
    let places = try connection.places()
    var request = HistoryQuery()
    let all = database.live.history(request).changes
    #expect(try await Self.all(all) { $0.label } == places)
    // What is committed later is not part of an answer, and the end is an end.
    request.order = .descending
    request.limit = 700
    #expect(
      try await Self.all(database.live.history(request).changes) { $0.label }
        == Array(places.reversed().prefix(700)))
  }

  @Test func theLimitOfTransactionsCountsThem() async throws {
    var request = HistoryQuery()
    request.limit = 2
    let counts = try await Self.all(database.live.history(request).transactions) {
      $0.changes.count
    }
    #expect(counts == [2, 1_300])
    request.limit = 0
    let none = try await Self.all(database.live.history(request).transactions) { $0.changes.count }
    #expect(none.isEmpty)
  }

  @Test func aRequestForMissingValuesHasNoOtherChanges() async throws {
    try connection.run("insert into quake.quake (code, time, depth) values ('deep', now(), 600)")
    var request = HistoryQuery()
    request.filter = EventFilter(where: .isMissing(.depth))
    request.filter.codes = ["a2", "deep"]
    let changes = try await Self.all(database.live.history(request).changes) { $0.code }
    #expect(changes == ["a2"])
    #expect(try await database.live.history(request).count() == 1)
    #expect(try await database.live.history(request).codes() == ["a2"])
  }

  @Test func aRequestThatHasNoAnswerSaysTheReason() async throws {
    var requests = Array(repeating: HistoryQuery(), count: 4)
    requests[0].limit = -1
    requests[1].filter = EventFilter(where: .place >= 5)
    requests[2].after = .number(-1)
    requests[3].after = .token(try #require(ChangeToken(number: 99, nonce: "00000000")))
    let kinds: [StoreError.Kind] = [.usage, .usage, .token(.malformed), .token(.future)]
    for (request, kind) in zip(requests, kinds) {
      let history = database.live.history(request)
      for attempt in [
        { @Sendable in _ = try await Self.all(history.changes) { $0.label } },
        { @Sendable in _ = try await Self.all(history.transactions) { $0.changes.count } },
        { @Sendable in _ = try await history.count() },
        { @Sendable in _ = try await history.codes() },
      ] {
        let error = await #expect(throws: StoreError.self) { try await attempt() }
        #expect(error?.kind == kind)
      }
    }
    let live = database.live
    let cursor = HistoryCursor(token: try await live.latestToken(), changes: -5)
    let error = await #expect(throws: StoreError.self) {
      try await live.changes(after: cursor).first(1) { $0.label }
    }
    #expect(error?.kind == .token(.malformed))
  }

  @Test func theBoundsOfARequestMayBeBeforeAndAfterAllTimes() async throws {
    var request = HistoryQuery()
    request.after = .time(Timestamp(.distantPast))
    request.upTo = .time(Timestamp(microseconds: .max))
    #expect(try await database.live.history(request).count() == 1_303)
    request.filter = EventFilter(where: .time >= Timestamp(microseconds: .min))
    request.filter.endTime = Timestamp(microseconds: .max)
    #expect(try await database.live.history(request).count() == 1_303)
  }

  @Test func anIdOfAnotherEventLeadsToItsOwnPastFirst() async throws {
    try connection.run("insert into quake.quake (code, time, magnitude) values ('old', now(), 3)")
    let token = try await database.live.latestToken()
    try connection.run(
      "delete from quake.quake where code = 'old'",
      "insert into quake.quake_alias (id, code) values ('old', 'a2')")
    let event = try await database.live.event("old", asOf: .token(token))
    #expect(event?.code == "old" && event?.magnitude == 3)
    #expect(try await database.live.event("old")?.code == "a2")
    let now = HistoryBound.token(try await database.live.latestToken())
    #expect(try await database.live.event("old", asOf: now)?.code == "a2")
    let versions = try await database.live.versions(of: "old")
    #expect(versions.map(\.code) == ["old", "old", "a2"])
    #expect(try await database.live.versions(of: "a2").map(\.code) == ["a2"])
    #expect(try await database.live.event("a2\0") == nil)
    #expect(try await database.live.event("a2\0", asOf: now) == nil)
    #expect(try await database.live.versions(of: "a2\0").isEmpty)
  }

  @Test func aRequestLeavesNothingOpenBetweenPagesNorWhenItIsDropped() async throws {
    let database = database
    try await OwnThread.run {
      let connection = try database.test.connect()
      do {
        var iterator = database.live.history(HistoryQuery()).changes.makeAsyncIterator()
        #expect(try await iterator.next()?.code == "a1")
        #expect(try connection.eventually(LiveDatabase.idle(after: "")))
        #expect(try await iterator.next()?.code == "a2")
      }
      #expect(try connection.eventually(LiveDatabase.connections(0)))
    }
  }

  private static func all<Sequence: AsyncSequence, Value>(
    _ sequence: Sequence, _ value: (Sequence.Element) -> Value
  ) async throws -> [Value] {
    var values: [Value] = []
    for try await element in sequence { values.append(value(element)) }
    return values
  }
}
