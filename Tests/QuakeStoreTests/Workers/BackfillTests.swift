import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeImport
@testable import QuakeWorker

@Suite final class BackfillTests: DatabaseSuite {
  private let parameters: Backfill.Parameters

  override init() throws {
    let span = BackfillWindow(
      from: try #require(Timestamp(iso8601: "2020-01-01")),
      to: try #require(Timestamp(iso8601: "2020-01-02")))
    parameters = Backfill.Parameters(url: "https://example.org/1", source: "usgs", span: span)
    try super.init()
  }

  private func open(restart: Bool = false) throws -> Backfill {
    try Backfill.open(parameters, restart: restart, over: connection)
  }

  private func windows() throws -> [String] {
    try connection.table(
      """
      select to_char(start_time at time zone 'UTC', 'HH24:MI:SS'), end_time - start_time, state, count
        from quake.backfill_window order by start_time
      """)
  }

  /// Imports `codes` and finishes the next window with them.
  @discardableResult
  private func fetch(_ backfill: Backfill, _ codes: [String], limit: Int64 = 100) throws
    -> ImportReport
  {
    let windows = BackfillWindows(of: backfill, over: connection)
    let window = try #require(try windows.next())
    return try connection.load(
      FakeSource(codes.map { EventRecord($0) }),
      by: {
        try $0.run(
          from: &$1,
          beforeCommit: { try windows.complete(window, of: backfill, with: $0, limit: limit) })
      })
  }

  @Test func aBackfillBeginsWithOneWindowAndEndsWhenAllAreDone() throws {
    let backfill = try open()
    #expect(!backfill.isResumed)
    #expect(try windows() == ["00:00:00|1 day|pending|"])
    try backfill.finish(over: connection)
    #expect(try !backfill.totals(over: connection).isComplete)
    let report = try fetch(backfill, ["a", "b"])
    #expect(try windows() == ["00:00:00|1 day|done|2"])
    #expect(
      try connection.ask("select import_id from quake.backfill_window")
        == report.id.map { "\($0)" })
    try backfill.finish(over: connection)
    let totals = try backfill.totals(over: connection)
    #expect(totals.isComplete)
    #expect(totals.seen == 2 && totals.inserted == 2)
    #expect(try BackfillWindows(of: backfill, over: connection).next() == nil)
    // The same parameters again are a new backfill.
    let again = try open()
    #expect(again.id != backfill.id)
    #expect(!again.isResumed)
  }

  @Test func aBackfillContinuesUnlessItIsRestarted() throws {
    let first = try open()
    let store = BackfillWindows(of: first, over: connection)
    #expect(try store.cut(try #require(try store.next())))
    try fetch(first, ["a"])
    let halves = ["00:00:00|12:00:00|done|1", "12:00:00|12:00:00|pending|"]
    #expect(try windows() == halves)
    let second = try open()
    #expect(second.isResumed)
    #expect(second.id == first.id)
    #expect(try windows() == halves)
    #expect(
      try store.progress()
        == BackfillWindows.Progress(
          done: 1, pending: 1, records: 1, expected: nil, secondsDone: 43_200,
          longest: 1))
    let third = try open(restart: true)
    #expect(!third.isResumed)
    #expect(try windows() == ["00:00:00|1 day|pending|"])
  }

  @Test func otherParametersAreAnotherBackfill() throws {
    let first = try open()
    for change in [
      { $0.url = "https://example.org/2" }, { $0.source = "emsc" }, { $0.minimumMagnitude = 2.5 },
      { $0.span = $0.span?.halves?.0 }, { $0.span = nil }, { $0.source = nil },
      { $0.region = "--within 100:10,20" },
    ] as [(inout Backfill.Parameters) -> Void] {
      var other = parameters
      change(&other)
      let backfill = try Backfill.open(other, restart: false, over: connection)
      #expect(backfill.id != first.id && !backfill.isResumed)
      #expect(try Backfill.open(other, restart: false, over: connection).id == backfill.id)
    }
  }

  @Test func aBackfillBelongsToOneProcessAtATime() throws {
    _ = try open()
    let other = try database.connect()
    let error = #expect(throws: StoreError.self) {
      try Backfill.open(parameters, restart: false, over: other)
    }
    #expect(error?.kind == .locked)
    var different = parameters
    different.minimumMagnitude = 1
    _ = try Backfill.open(different, restart: false, over: other)
  }

  @Test func aBackfillCountsTheWholeSpanOnce() throws {
    let backfill = try open()
    let store = BackfillWindows(of: backfill, over: connection)
    let whole = try #require(try store.next())
    try store.set(count: 300, of: whole)
    #expect(try store.next()?.count == 300)
    try store.set(count: 299, of: whole)
    #expect(try store.cut(whole))
    let half = try #require(try store.next())
    #expect(half.count == nil)
    try store.set(count: 100, of: half)
    #expect(try store.progress().expected == 300)
    try store.set(count: nil, of: half)
    #expect(try store.next()?.count == nil)
  }

  @Test func aBackfillKeepsTheEventsOfACutWindowAndFetchesItsHalves() throws {
    let backfill = try open()
    try fetch(backfill, (0..<9).map { "e\($0)" }, limit: 10)
    #expect(try windows() == ["00:00:00|12:00:00|pending|", "12:00:00|12:00:00|pending|"])
    #expect(try database.count("quake.quake") == 9)
    #expect(try backfill.totals(over: connection).inserted == 9)
  }

  @Test func aBackfillRefusesToCutAWindowOfOneSecond() throws {
    var dense = parameters
    dense.span = BackfillWindow(
      from: Timestamp(microseconds: 0), to: Timestamp(microseconds: 1_000_000))
    let backfill = try Backfill.open(dense, restart: false, over: connection)
    #expect(try !BackfillWindows(of: backfill, over: connection).cut(try #require(dense.span)))
    let error = #expect(throws: StoreError.self) {
      try fetch(backfill, (0..<10).map { "e\($0)" }, limit: 10)
    }
    #expect(error?.message.contains("1970-01-01T00:00:00") == true)
    #expect(try database.count("quake.quake") == 0)
    #expect(try database.count("quake.import") == 0)
    #expect(try backfill.totals(over: connection).seen == 0)
  }

  @Test func theProgressOfABackfillIsStoredWithItsImport() throws {
    struct Interruption: Error {}
    let backfill = try open()
    let store = BackfillWindows(of: backfill, over: connection)
    let window = try #require(try store.next())
    #expect(throws: Interruption.self) {
      try connection.load(
        FakeSource([EventRecord("a")]),
        by: {
          try $0.run(
            from: &$1,
            beforeCommit: { report in
              try store.complete(window, of: backfill, with: report, limit: 100)
              throw Interruption()
            })
        })
    }
    #expect(try windows() == ["00:00:00|1 day|pending|"])
    #expect(try database.count("quake.quake") == 0)
    #expect(try database.count("quake.import") == 0)
  }

  @Test func aBackfillKnowsFilesByPathSizeAndTime() throws {
    let backfill = try Backfill.open(
      Backfill.Parameters(url: "/data", source: nil), restart: false, over: connection)
    let known = BackfillFiles(over: connection)
    func file(_ path: String, _ size: Int64, _ modified: Int64) -> BackfillFiles.File {
      BackfillFiles.File(path: path, size: size, modified: Timestamp(microseconds: modified))
    }
    let first = file("/data/a", 5, 1_000_001)
    #expect(try !known.isStored(first))
    try known.markStored(first, of: backfill, with: ImportReport())
    #expect(try known.isStored(first))
    for other in [
      file("/data/b", 5, 1_000_001), file("/data/a", 6, 1_000_001), file("/data/a", 5, 2),
    ] {
      #expect(try !known.isStored(other))
    }
    let changed = file("/data/a", 6, 2)
    try known.markStored(changed, of: backfill, with: ImportReport())
    #expect(try known.isStored(changed) && !known.isStored(first))
    try backfill.finish(over: connection)
    _ = try Backfill.open(
      Backfill.Parameters(url: "/data", source: nil), restart: true, over: connection)
    #expect(try !known.isStored(changed))
  }
}
