import Foundation
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeSimulator
import QuakeStore
import TestSupport
import Testing

@Suite struct ImportTests {
  private let database: LiveDatabase

  init() throws {
    database = try LiveDatabase()
  }

  private func stored() throws -> Int64? {
    try database.test.connect().execute("select count(*) from quake.quake").integer(0, 0)
  }

  private static func record(_ number: Int) -> EventRecord {
    var quake = EventRecord()
    quake.code = "local\(number)"
    quake.time = Timestamp(Date(timeIntervalSince1970: 1_700_000_000 + Double(number)))
    (quake.latitude, quake.longitude) = (37.5, 143.2)
    quake.magnitude = Double(number % 70) / 10
    return quake
  }

  /// Records that are made when they are asked for.
  private static func records(
    _ count: Int, made: Tally = Tally(), then error: (any Error)? = nil
  ) -> AsyncThrowingStream<EventRecord, any Error> {
    AsyncThrowingStream {
      let number = made.total
      made.add(1)
      if number < count { return record(number) }
      if let error { throw error }
      return nil
    }
  }

  /// Imports records on threads of its own: other tests block those that tasks share, some of them until the
  /// server has dropped a database, which waits for the import's COPY.
  private func importEvents<Records: AsyncSequence & Sendable>(
    _ records: Records
  ) async throws -> ImportReport where Records.Element == EventRecord {
    try await OwnThread.run { [database] in
      try await database.live.importEvents(
        records, named: "bulletin",
        columns: [.code, .time, .latitude, .longitude, .magnitude])
    }
  }

  @Test func anImportOfAURLReadsTheFeedFromItsServer() async throws {
    var options = SimulatorOptions()
    options.events = 200
    options.rate = 0
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    let feed = try #require(SummaryFeed(name: "all_month"))
    let url = try #require(URL(string: server.url(of: feed)))
    #expect(try await database.live.importFeed(url).inserted == 200)
    let missing = try #require(URL(string: server.baseURL + "/nothing.geojson"))
    await #expect(throws: FeedError.self) {
      try await database.live.importFeed(missing)
    }
  }

  @Test func anImportOfASequenceStoresItsRecordsAndRejectsOthers() async throws {
    var nowhere = Self.record(-1)
    nowhere.latitude = 91
    var unnamed = Self.record(-2)
    unnamed.code = nil
    let bad = [nowhere, unnamed]
    let (records, sender) = AsyncStream<EventRecord>.makeStream()
    for record in bad + (0..<1000).map(Self.record) { sender.yield(record) }
    sender.finish()
    let report = try await importEvents(records)
    #expect(report.inserted == 1000 && report.rejected == 2)
    let page = try await database.live.events()
    #expect(page.events.count == 1000)
    let reasons = try database.test.connect().table(
      "select reason from quake.import_reject order by reason")
    #expect(
      reasons == ["The event has no code.", "The latitude 91 is outside -90 to 90."])
    // Revised records are updates; columns that they do not fill stay.
    try database.test.connect().execute("update quake.quake set place = 'here'")
    var revised = Self.record(5)
    revised.magnitude = 6.5
    let one = AsyncStream<EventRecord> { [revised] in
      $0.yield(revised)
      $0.finish()
    }
    let update = try await importEvents(one)
    #expect(update.updated == 1)
    var query = EventQuery()
    query.filter.codes = ["local5"]
    let event = try #require(try await database.live.events(query).events.first)
    #expect(event.magnitude == 6.5 && event.place == "here" && event.id == "local5")
  }

  @Test(arguments: [nil, 2])
  func anImportRejectsWhatCannotBeStoredAndGoesOn(commitEvery: Int?) async throws {
    func record(_ number: Int, _ edit: (inout EventRecord) -> Void) -> EventRecord {
      var record = Self.record(number)
      edit(&record)
      return record
    }
    let results: [Result<EventRecord, ImportReject>] = [
      .success(Self.record(1)),
      .success(Self.record(2)),
      .success(record(3) { $0.place = "x\0y" }),
      .success(record(4) { $0.code = "x\0y" }),
      .success(record(5) { $0.time = Timestamp(microseconds: .max) }),
      .success(record(6) { $0.updated = Timestamp(microseconds: .min) }),
      .failure(ImportReject(place: "x\0", reason: "\0", raw: "\0y", code: "local\0")),
      .failure(
        ImportReject(
          place: "large", reason: "It is large.",
          raw: String(repeating: "\u{20AC}", count: 2 << 20))),
      .success(Self.record(9)),
    ]
    let report = try await database.live.importEvents(
      results, named: "bulletin", columns: EventColumn.feed
    ) { $0.commitEvery = commitEvery }
    #expect(report.inserted == 3 && report.rejected == 6)
    #expect(try database.test.value("select distinct source from quake.quake") == "local")
    let rejects = try database.test.connect().table(
      "select place || ': ' || reason || ' ' || left(raw, 3) from quake.import_reject order by record"
    )
    #expect(
      rejects == [
        "record 3: The place contains the character NUL. x\u{2400}y",
        "record 4: The code contains the character NUL. ",
        "record 5: The time is not within the years 1 to 9999. ",
        "record 6: The updated is not within the years 1 to 9999. ",
        "x\u{2400}: \u{2400} \u{2400}y", "large: It is large. \u{20AC}\u{20AC}\u{20AC}",
      ])
    #expect(
      try database.test.value("select max(octet_length(raw)) from quake.import_reject") == "65535")
  }

  @Test func anImportWithoutTheNecessaryColumnsIsAnError() async throws {
    let live = database.live
    let (records, sender) = AsyncStream<EventRecord>.makeStream()
    sender.finish()
    for columns: [EventColumn] in [
      [], [.time, .latitude, .longitude], [.code, .time, .magnitude],
      [.code, .time, .latitude, .longitude, .validated],
    ] {
      for attempt in [
        { @Sendable in
          _ = try await live.importEvents([Self.record(1)], named: "x", columns: columns)
        },
        { @Sendable in _ = try await live.importEvents(records, named: "x", columns: columns) },
      ] {
        let error = await #expect(throws: StoreError.self) { try await attempt() }
        #expect(error?.kind == .usage)
      }
    }
    // A column that is named twice is written once.
    let report = try await live.importEvents(
      [Self.record(1)], named: "x", columns: [.code, .time, .latitude, .longitude, .code])
    #expect(report.inserted == 1)
  }

  @Test(arguments: [0, -1, .min])
  func anImportCommitsAfterOneRecordAtLeast(every: Int) async throws {
    let error = await #expect(throws: StoreError.self) {
      try await database.live.importEvents([Self.record(1)], named: "x") { $0.commitEvery = every }
    }
    #expect(error?.kind == .usage)
    #expect(try stored() == 0)
  }

  @Test func aFollowerOfFeedsMayPauseForEver() async throws {
    let database = database
    let executor = OwnThread(runsInOrder: true)
    let following = Task(executorPreference: executor) {
      try await FeedFollower(database.live, feeds: [], every: .seconds(Int64.max)).run()
    }
    // It is its turn when the follower pauses.
    let cancelling = Task(executorPreference: executor) { following.cancel() }
    await cancelling.value
    try await following.value
  }

  @Test func anImportOfAFailingSequenceLeavesNothing() async throws {
    struct Interruption: Error {}
    let records = Self.records(2000, then: Interruption())
    await #expect(throws: Interruption.self) {
      try await importEvents(records)
    }
    #expect(try stored() == 0)
  }

  @Test func aCancelledImportLeavesNothingAndNoConnection() async throws {
    let (records, sender) = AsyncStream<EventRecord>.makeStream()
    for number in 0..<500 { sender.yield(Self.record(number)) }
    try await OwnThread.run { [database] in
      let importing = Task(executorPreference: OwnThread.shared) {
        try await database.live.importEvents(records, named: "bulletin")
      }
      let observer = try database.test.connect()
      #expect(try observer.eventually(LiveDatabase.connections(1)))
      importing.cancel()
      await #expect(throws: CancellationError.self) { try await importing.value }
      #expect(try observer.eventually(LiveDatabase.connections(0)))
    }
    #expect(try stored() == 0)
    sender.finish()
  }

  @Test func anImportHoldsFewRecordsWhileTheDatabaseIsBusy() async throws {
    let channel = try RecordChannel()
    let sending = Task(executorPreference: OwnThread.shared) {
      for number in 0..<5000 { guard await channel.send(Self.record(number)) else { return } }
      channel.finish(.success(()))
    }
    try await OwnThread.run {
      var received = 0
      while case let records = try channel.receive(), !records.isEmpty {
        #expect(records.count <= 256)
        received += records.count
      }
      #expect(received == 5000)
    }
    await sending.value
  }
}
