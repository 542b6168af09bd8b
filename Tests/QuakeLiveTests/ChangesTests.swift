import Postgres
import QuakeModel
import QuakeStore
import TestSupport
import Testing

@Suite struct ChangesTests {
  private let database: LiveDatabase

  init() throws {
    database = try LiveDatabase()
  }

  @Test func everyReaderGetsEveryChangeOfManyWritersOnceInCommitOrder() async throws {
    let writers = 8
    let each = 40
    let changes = database.live.changes(after: .beginning)
    let readers = (0..<3).map { _ in
      Task { try await changes.first(writers * each * 2) { $0.label } }
    }
    let large = Task {
      try await database.live.changes(EventQuery(Self.magnitude(7)), after: .beginning)
        .first(writers * each) { $0.label }
    }
    let test = database.test
    try await OwnThread.run {
      try BackgroundThread.run(writers) { writer in
        let connection = try test.connect()
        for number in 0..<each {
          try connection.transaction {
            try connection.insertQuakes("w\(writer)n\(number)s", magnitude: 6)
            try connection.insertQuakes("w\(writer)n\(number)l", magnitude: 7)
          }
        }
      }
    }
    let connection = try test.connect()
    let expected = try connection.places()
    #expect(expected.count == writers * each * 2)
    for reader in readers { #expect(try await reader.value == expected) }
    // Each transaction's second change is the large one.
    #expect(try await large.value == expected.filter { $0.hasSuffix(":1") })
  }

  private static func magnitude(_ minimum: Double) -> EventFilter {
    var filter = EventFilter()
    filter.minimumMagnitude = minimum
    return filter
  }

  @Test func changesContinueFromAnyPlaceAlsoWithinATransaction() async throws {
    let connection = try database.test.connect()
    try connection.insertQuakes("a", 3)
    try connection.insertQuakes("b", 1_200)
    try connection.insertQuakes("c", 2)
    let expected = try connection.places()
    let all = try await database.live.changes(after: .beginning).first(expected.count) { $0 }
    #expect(all.map(\.label) == expected)
    for index in [0, 1, 2, 3, 600, 1_201, 1_202, 1_203] {
      let rest = expected.count - index - 1
      let labels = try await database.live.changes(after: all[index].cursor)
        .first(rest) { $0.label }
      #expect(labels == expected.suffix(rest), "after change \(index)")
    }
    // A whole transaction's place is its token.
    #expect(all[2].cursor == HistoryCursor(token: all[2].transaction.token))
    #expect(all[1].cursor == HistoryCursor(token: all[1].transaction.token, changes: 2))
  }

  @Test func changesWithoutATokenBeginAfterTheFirstDemand() async throws {
    let connection = try database.test.connect()
    try connection.insertQuakes("before", 3)
    let first = Task {
      try await database.live.changes().first(1) { $0.code }
    }
    // It listens before it waits; what comes now is after its first demand.
    let test = database.test
    let isWaiting = try await OwnThread.run {
      try test.connect().eventually(LiveDatabase.idle(after: ""))
        && test.connect().eventually(
          """
          exists (select from pg_stat_activity
                   where datname = current_database() and application_name = 'live'
                     and state = 'idle' and query like 'select t.token, v.id%')
          """)
    }
    #expect(isWaiting)
    try connection.insertQuakes("after")
    #expect(try await first.value == ["after1"])
  }

  @Test func batchesOfChangesSayHowFarTheyHaveComePastTheFilter() async throws {
    let connection = try database.test.connect()
    try connection.insertQuakes("small", 700, magnitude: 2)
    try connection.insertQuakes("large", 2, magnitude: 7)
    try connection.insertQuakes("small again", 10, magnitude: 2)
    let token = try await database.live.latestToken()
    let batches = database.live.changes(EventQuery(Self.magnitude(7)), after: .beginning).batches
    let first = try #require(try await batches.first(1) { $0 }.first)
    #expect(first.changes.map(\.code) == ["large1", "large2"])
    #expect(first.cursor == HistoryCursor(token: token))
    let unfiltered = try await database.live.changes(after: .beginning).batches.first(2) { $0 }
    #expect(unfiltered.map(\.changes.count) == [500, 212])
    #expect(unfiltered[0].cursor.changes == 500)
  }

  @Test func changesResumeEachTimeTheirConnectionIsTerminated() async throws {
    let test = database.test
    let total = 1 + 40 * 150
    let reader = Task {
      try await database.live.changes(after: .beginning).first(total) { $0.label }
    }
    let terminations = try await OwnThread.run {
      // Only a connection that was there once is made again.
      try test.connect().insertQuakes("first")
      #expect(
        try test.connect().eventually(LiveDatabase.idle(after: "select t.token, v.id")))
      let writer = BackgroundThread {
        let connection = try test.connect()
        for number in 0..<39 { try connection.insertQuakes("n\(number)x", 150) }
      }
      let connection = try test.connect()
      var terminations = 0
      while terminations < 6 {
        // Each time a new one has come.
        guard try connection.eventually(LiveDatabase.connections(1)) else { break }
        terminations += try connection.table(
          """
          select pg_terminate_backend(pid, 10000) from pg_stat_activity
           where datname = current_database() and application_name = 'live'
          """
        ).count
      }
      try writer.join()
      // Until now the reader cannot have had everything, so it connects again each time.
      try connection.insertQuakes("last", 150)
      return terminations
    }
    #expect(terminations >= 6)
    let labels = try await reader.value
    #expect(labels == (try test.connect().places()))
  }

  @Test func changesEndBeforeMissingTransactionsWithTheReason() async throws {
    let connection = try database.test.connect()
    for number in 1...30 { try connection.insertQuakes("g\(number)") }
    try connection.run("delete from quake.change_transaction where token between 11 and 20")
    var changes = database.live.changes(after: .beginning).makeAsyncIterator()
    for _ in 1...10 { #expect(try await changes.next() != nil) }
    let error = await #expect(throws: StoreError.self) { try await changes.next() }
    #expect(error?.kind == .token(.diverged))
    #expect(error?.message.hasPrefix("history diverged at token 10.") == true)
    #expect(error?.detail?.contains(" here, 21.") == true, "\(error?.detail ?? "")")
    #expect(error?.detail?.contains(" names 20.") == true)
    #expect(try await changes.next() == nil)
    // The answers about the past say the same.
    let answer = await #expect(throws: StoreError.self) {
      for try await _ in database.live.history().changes {}
    }
    #expect(answer?.message == error?.message && answer?.detail == error?.detail)
  }

  @Test func changesFailAtOnceWithoutAServerOrASchema() async throws {
    let nowhere = QuakeDatabase("host=/nonexistent", applicationName: "live")
    let error = await #expect(throws: PostgresError.self) {
      try await nowhere.changes().first(1) { $0.label }
    }
    #expect(error?.kind == .connection)
    let empty = try TestDatabase.empty()
    let unmigrated = QuakeDatabase(empty.conninfo, applicationName: "live")
    for attempt in [
      { @Sendable in try await unmigrated.check() },
      { @Sendable in _ = try await unmigrated.changes().first(1) { $0.label } },
    ] {
      let error = await #expect(throws: StoreError.self) { try await attempt() }
      #expect(error?.kind == .schema)
    }
  }
}
