import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import Basics
@testable import QuakeHistory
@testable import QuakeImport

@Suite final class ImporterTests: DatabaseSuite {
  @discardableResult
  private func load(
    _ source: FakeSource, _ change: (inout ImportOptions) -> Void = { _ in }
  ) throws -> ImportReport {
    try connection.load(source, change)
  }

  private func counts(_ report: ImportReport) -> [Int64] {
    [
      report.seen, report.inserted, report.updated, report.unchanged, report.rejected,
      report.duplicate, report.stale,
    ]
  }

  private func magnitudes() throws -> [String] {
    try connection.table("select code, magnitude from quake.quake order by code")
  }

  // MARK: - Results

  @Test func aSnapshotOfTheFutureNeverWinsOverALaterOne() throws {
    let report = try load(FakeSource([EventRecord("a")], generated: "2100-01-01T00:00:00Z"))
    #expect(report.generated == nil)
    // An honest one is always older than its arrival.
    let honest = try load(
      FakeSource([EventRecord("a", magnitude: 7)], generated: "2024-01-01T00:00:00Z"))
    #expect(honest.updated == 1 && honest.stale == 0)
  }

  @Test func aSnapshotOfAClockThatIsAheadIsDatedToThePresent() throws {
    let ahead = Timestamp(microseconds: Timestamp.now().microseconds + 600_000_000)
    let report = try load(FakeSource([EventRecord("a")], generated: ahead.description))
    let generated = try #require(report.generated)
    #expect(generated <= .now())
    let next = try load(
      FakeSource([EventRecord("a", magnitude: 6)], generated: Timestamp.now().description))
    #expect(next.updated == 1)
  }

  @Test func anImportCountsInsertedUpdatedAndUnchangedEvents() throws {
    let first = try load(
      FakeSource([EventRecord("a"), EventRecord("b"), EventRecord("c")]))
    #expect(counts(first) == [3, 3, 0, 0, 0, 0, 0])
    let second = try load(
      FakeSource([
        .record(EventRecord("a")), .reject(.numbered(2)), .record(EventRecord("b", magnitude: 6)),
        .record(EventRecord("d", magnitude: 1)), .record(EventRecord("d", magnitude: 2)),
        .record(EventRecord("c", magnitude: nil)),
      ]))
    #expect(counts(second) == [6, 1, 2, 1, 1, 1, 0])
    #expect(try magnitudes() == ["a|5", "b|6", "c|", "d|2"])
    #expect(
      try connection.table(
        """
        select seen, inserted, updated, unchanged, rejected, duplicate, stale, complete
          from quake.import order by id
        """) == ["3|3|0|0|0|0|0|t", "6|1|2|1|1|1|0|t"])
    #expect(
      Set(try connection.historyLines().suffix(3)) == [
        "2:0 update b {magnitude}", "2:1 update c {magnitude}", "2:2 insert d",
      ])
    #expect(try connection.historyFaults() == [])
  }

  @Test func anImportWritesEveryColumnExactly() throws {
    var record = EventRecord("us1")
    for column in EventColumn.feed where !record.has(column) {
      switch column.kind {
      case .text: record.set(column, "\(column.name) é\n\"\\")
      case .float8: record.set(column, -0.1 * Double(column.rawValue))
      case .int4: record.set(column, integer: Int(Int32.min) + column.rawValue)
      case .int2: record.set(column, integer: Int(Int16.min))
      case .timestamp: record.set(column, Timestamp.earliest)
      case .bool: record.set(column, true)
      }
    }
    record.set(.magnitude, -0.1)
    record.set(.latitude, -89.9)
    try load(FakeSource([record, EventRecord("us2", magnitude: nil)]))
    var stored: [EventRecord] = []
    try Snapshot.read(over: connection, begin: { _ in }) { stored.append($0) }
    let full = try #require(stored.first { $0.text(.code) == "us1" })
    let bare = try #require(stored.first { $0.text(.code) == "us2" })
    for column in EventColumn.feed {
      #expect(full.has(column), "\(column)")
      #expect(json(column, full) == json(column, record), "\(column)")
      #expect(bare.has(column) == [.code, .source, .time].contains(column), "\(column)")
    }
  }

  @Test func anImportOfTheSameFeedAgainWritesNothing() throws {
    let records = (0..<3_000).map { EventRecord("u\($0)", ids: ",u\($0),x\($0),") }
    let first = try load(FakeSource(records, generated: "2024-01-01T00:00:00Z"))
    #expect(first.inserted == 3_000 && first.token != nil)
    let statistics = """
      select relname, n_tup_ins, n_tup_upd, n_tup_del, n_dead_tup from pg_stat_user_tables
       where schemaname = 'quake'
         and relname in ('quake', 'quake_version', 'quake_alias', 'change_transaction')
       order by 1
      """
    func counters() throws -> [String] {
      try connection.run("select pg_stat_force_next_flush()")
      try connection.run("select pg_stat_clear_snapshot()")
      return try connection.table(statistics)
    }
    // Even locking a row writes it, which shows in its xmax.
    let places = "select sum(hashtext(ctid::text || xmin || xmax)) from quake.quake"
    let before = (try counters(), try connection.ask(places))
    #expect(before.0.contains { $0.hasPrefix("quake|3000|0|0|") })
    for generated in ["2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"] {
      let again = try load(FakeSource(records, generated: generated))
      #expect(counts(again) == [3_000, 0, 0, 3_000, 0, 0, 0])
      #expect(again.token == nil)
    }
    #expect(try counters() == before.0)
    #expect(try connection.ask(places) == before.1)
    #expect(try connection.ask("select count(*) from quake.change_transaction") == "1")
    #expect(
      try connection.table("select unchanged, token is null from quake.import order by id offset 1")
        == ["3000|t", "3000|t"])
  }

  // MARK: - Rejects

  @Test func anImportKeepsRejectsWithTheirText() throws {
    let report = try load(
      FakeSource([.reject(.numbered(1)), .record(EventRecord("a")), .reject(.numbered(3))]))
    #expect(counts(report) == [3, 1, 0, 0, 2, 0, 0])
    #expect(report.firstReject?.place == "line 1")
    #expect(
      try connection.table(
        "select import_id = $1, record, place, reason, raw from quake.import_reject order by record",
        [.integer(report.id)]) == [
          "t|1|line 1|no 1|{\"raw\":1} é", "t|3|line 3|no 3|{\"raw\":3} é",
        ])
  }

  @Test(arguments: [nil, 500], [false, true])
  func anImportKeepsALimitedNumberOfRejectsAndCountsAll(commitEvery: Int?, areLong: Bool) throws {
    // Too many rejects, or too many bytes of them.
    let raw = String(repeating: "x", count: areLong ? 60_000 : 10)
    let rejects = (1...1500).map { number in
      FakeSource.Item.reject(ImportReject(place: "line \(number)", reason: "no", raw: raw))
    }
    let report = try load(FakeSource([.record(EventRecord("a"))] + rejects)) {
      $0.commitEvery = commitEvery
    }
    #expect(report.rejected == 1500 && report.seen == 1501)
    let kept = try connection.table(
      """
      select count(*), max(record) = count(*) + 1, sum(length(raw)) <= 4194304
        from quake.import_reject
      """)
    #expect(report.rejectsKept < 1500 && report.rejectsKept > 50)
    #expect(kept == ["\(report.rejectsKept)|t|t"])
    #expect(report.rejectsKept == (areLong ? 69 : RejectBudget.mostKept))
    #expect(try connection.ask("select rejected from quake.import") == "1500")
  }

  @Test func oldRejectsAreDeletedInBatches() throws {
    for _ in 1...2 {
      _ = try load(
        FakeSource([.record(EventRecord("a"))] + (1...1200).map { .reject(.numbered($0)) }))
    }
    try connection.execute(
      "update quake.import set started_at = started_at - interval '2 days' where id = (select min(id) from quake.import)"
    )
    let store = RejectStore(connection: connection)
    #expect(try store.purge(olderThan: .seconds(3 * 86_400)) == 0)
    #expect(try connection.ask("select count(*) from quake.import_reject") == "2000")
    var batches = 0
    let deleted = try store.purge(olderThan: .seconds(86_400)) {
      batches += 1
      return false
    }
    #expect(deleted == 1000 && batches == 1)
    #expect(try connection.ask("select count(distinct import_id) from quake.import_reject") == "1")
    #expect(try connection.ask("select count(*) from quake.import where rejected = 1200") == "2")
  }

  @Test func anImportOfNothingButRejectsIsRefused() throws {
    for commitEvery in [nil, 1, 2] {
      let error = try #require(throws: ImportRefusal.self) {
        try load(FakeSource((1...5).map { .reject(.numbered($0)) })) {
          $0.commitEvery = commitEvery
        }
      }
      #expect(error.message == "all 5 records were rejected, the first: line 1: no 1")
    }
    let single = try #require(throws: ImportRefusal.self) {
      try load(FakeSource([.reject(.numbered(1))]))
    }
    #expect(single.message == "the only record was rejected: line 1: no 1")
    #expect(try connection.ask("select count(*) from quake.import") == "0")
    #expect(try connection.ask("select count(*) from quake.import_reject") == "0")
  }

  @Test func anImportContinuesAfterABatchOfNothingButRejects() throws {
    let report = try load(
      FakeSource([
        .reject(.numbered(1)), .reject(.numbered(2)), .record(EventRecord("a")),
        .reject(.numbered(4)), .reject(.numbered(5)), .reject(.numbered(6)),
        .record(EventRecord("b")), .reject(.numbered(8)),
      ])
    ) { $0.commitEvery = 2 }
    #expect(counts(report) == [8, 2, 0, 0, 6, 0, 0])
    #expect(report.isComplete)
    #expect(
      try connection.table("select record from quake.import_reject order by record")
        == ["1", "2", "4", "5", "6", "8"])
  }

  // MARK: - Age and policy

  @Test func anImportOfAnOlderSnapshotDoesNotChangeNewerRows() throws {
    try load(FakeSource([EventRecord("a", magnitude: 1)], generated: "2024-01-02T00:00:00Z"))
    try load(FakeSource([EventRecord("b", magnitude: 1)], generated: "2024-01-01T00:00:00Z"))
    let report = try load(
      FakeSource(
        [
          EventRecord("a", magnitude: 9), EventRecord("b", magnitude: 9),
          EventRecord("c", magnitude: 9),
        ], generated: "2024-01-01T12:00:00Z"))
    #expect(counts(report) == [3, 1, 1, 1, 0, 0, 1])
    #expect(try magnitudes() == ["a|1", "b|9", "c|9"])
    // The same again: the event is stale, and is not updated.
    let again = try load(
      FakeSource([EventRecord("a", magnitude: 9)], generated: "2024-01-01T12:00:00Z"))
    #expect(counts(again) == [1, 0, 0, 1, 0, 0, 1])
    // A snapshot of the same age is not older.
    let equal = try load(
      FakeSource([EventRecord("a", magnitude: 8)], generated: "2024-01-02T00:00:00Z"))
    #expect(counts(equal) == [1, 0, 1, 0, 0, 0, 0])
    // An older event with the same contents is not stale.
    let same = try load(
      FakeSource([EventRecord("a", magnitude: 8)], generated: "2023-01-01T00:00:00Z"))
    #expect(counts(same) == [1, 0, 0, 1, 0, 0, 0])
    #expect(
      try connection.table("select code, as_of at time zone 'utc' from quake.quake order by 1")
        == ["a|2024-01-02 00:00:00", "b|2024-01-01 12:00:00", "c|2024-01-01 12:00:00"])
  }

  @Test func anImportOfUnknownAgeOverwritesAndIsOverwritten() throws {
    try load(FakeSource([EventRecord("a", magnitude: 1)], generated: "2024-01-02T00:00:00Z"))
    #expect(counts(try load(FakeSource([EventRecord("a", magnitude: 2)])))[2] == 1)
    #expect(try connection.ask("select as_of is null from quake.quake") == "t")
    let old = try load(
      FakeSource([EventRecord("a", magnitude: 3)], generated: "2001-01-01T00:00:00Z"))
    #expect(old.updated == 1)
    #expect(try magnitudes() == ["a|3"])
  }

  @Test func anImportUsesTheAgeOfItsOptionsIfTheSourceStatesNone() throws {
    try load(FakeSource([EventRecord("a")])) { $0.generated = .earliest }
    try load(FakeSource([EventRecord("b")], generated: "2024-01-01T00:00:00Z")) {
      $0.generated = .earliest
    }
    #expect(
      try connection.table("select generated at time zone 'utc' from quake.import order by id")
        == ["0001-01-01 00:00:00", "2024-01-01 00:00:00"])
  }

  @Test func anImportFollowsItsConflictPolicy() throws {
    try load(
      FakeSource(
        [EventRecord("a", magnitude: 1), EventRecord("b", magnitude: 1)],
        generated: "2024-01-02T00:00:00Z"))
    func incoming(_ magnitude: Double) -> FakeSource {
      FakeSource(
        [
          EventRecord("a", magnitude: magnitude), EventRecord("b", magnitude: 1),
          EventRecord("new \(magnitude)"),
        ], generated: "2024-01-01T00:00:00Z")
    }
    let always = try load(incoming(2)) { $0.policy = .always }
    #expect(counts(always) == [3, 1, 1, 1, 0, 0, 0])
    #expect(try magnitudes() == ["a|2", "b|1", "new 2.0|5"])

    let store = try load(incoming(3)) { $0.policy = .store }
    #expect(counts(store) == [3, 1, 0, 2, 0, 0, 0])
    #expect(try magnitudes() == ["a|2", "b|1", "new 2.0|5", "new 3.0|5"])

    let token = try connection.latestToken()
    let error = try #require(throws: ImportRefusal.self) {
      try load(incoming(4)) { $0.policy = .error }
    }
    #expect(
      error.message
        == "1 of the events is in the store with other contents, the first: \"a\"")
    #expect(try magnitudes() == ["a|2", "b|1", "new 2.0|5", "new 3.0|5"])
    #expect(try connection.latestToken() == token)
    #expect(try connection.ask("select count(*) from quake.import") == "3")

    let harmless = try load(incoming(2)) { $0.policy = .error }
    #expect(counts(harmless) == [3, 0, 0, 3, 0, 0, 0])
  }

  // MARK: - Merging

  @Test func anImportDoesNotChangeColumnsThatItsFeedLacks() throws {
    var full = EventRecord("a", magnitude: 1, place: "here")
    full.set(.felt, integer: 7)
    full.set(.title, "title")
    try load(FakeSource([full]))
    let columns: [EventColumn] = [.code, .source, .time, .magnitude, .place]
    let report = try load(
      FakeSource(
        [.record(EventRecord("a", magnitude: 2)), .record(EventRecord("b"))], columns: columns))
    #expect(counts(report) == [2, 1, 1, 0, 0, 0, 0])
    #expect(
      try connection.table(
        "select code, magnitude, place, felt, title from quake.quake order by 1")
        == ["a|2||7|title", "b|5|||"])
    // A difference in other columns only does not count.
    #expect(
      try load(FakeSource([.record(EventRecord("a", magnitude: 2))], columns: columns)).unchanged
        == 1)
  }

  @Test func anImportNeverOverwritesColumnsThatNoFeedHas() throws {
    try load(FakeSource([EventRecord("a", magnitude: 1)]))
    try connection.run(
      """
      update quake.quake set validated = true, withdrawn_at = '2024-01-01Z', superseded_by = 'b'
      """)
    #expect(try load(FakeSource([EventRecord("a", magnitude: 1)])).unchanged == 1)
    for policy in [MergePolicy.incoming, .always] {
      let magnitude: Double = policy == .incoming ? 2 : 3
      let report = try load(FakeSource([EventRecord("a", magnitude: magnitude)])) {
        $0.policy = policy
      }
      #expect(report.updated == 1)
      #expect(
        try connection.table(
          "select validated, withdrawn_at at time zone 'utc', superseded_by from quake.quake")
          == ["t|2024-01-01 00:00:00|b"])
    }
  }

  @Test func anImportStoresTheOtherIDsOfAnEventAsAliases() throws {
    try load(
      FakeSource([
        EventRecord("us1", ids: ",us1,ci9,ak8,"), EventRecord("us2", ids: ",us2,"),
        EventRecord("us3"), EventRecord("us4", ids: "us4,,nn7"),
      ]))
    #expect(
      try connection.table("select id, code from quake.quake_alias order by 1")
        == ["ak8|us1", "ci9|us1", "nn7|us4"])
    // The preferred id changes: the event has a new row, and the old ids lead to it.
    try load(FakeSource([EventRecord("ci9", ids: ",ci9,us1,ak8,")]))
    #expect(
      try connection.table("select id, code from quake.quake_alias order by 1")
        == ["ak8|ci9", "nn7|us4", "us1|ci9"])
    #expect(try connection.table("select code from quake.find('ak8')") == ["ci9"])
    #expect(try connection.table("select code from quake.find('nn7')") == ["us4"])
  }

  // MARK: - The row in quake.import

  @Test func anImportHasARowToWhichItsChangesRefer() throws {
    let report = try load(
      FakeSource([EventRecord("a"), EventRecord("b")], generated: "2024-01-01T00:00:00Z")
    ) {
      $0.source = "https://example.org/feed"
      $0.httpStatus = 200
      $0.etag = "\"e\""
      $0.lastModified = "Mon, 01 Jan 2024 00:00:00 GMT"
    }
    let token = try #require(report.token)
    #expect(try connection.latestToken() == token)
    #expect(
      try connection.table(
        """
        select id, source, feed, format, http_status, etag, last_modified,
               generated at time zone 'utc', bytes, complete, program, token,
               started_at <= finished_at, receive_duration > interval '0',
               merge_duration > interval '0'
          from quake.import
        """) == [
          """
          \(try #require(report.id))|https://example.org/feed|f|fake|200|"e"|\
          Mon, 01 Jan 2024 00:00:00 GMT|2024-01-01 00:00:00|200|t|tests 1|\(token.number)|t|t|t
          """
        ])
    #expect(
      try connection.table(
        "select author, context, import_id, inserted from quake.change_transaction")
        == ["a|f|\(try #require(report.id))|2"])
    // The settings of an import must not outlast it.
    try connection.insertQuakes("later")
    #expect(
      try connection.table(
        "select author is null, import_id is null from quake.change_transaction offset 1")
        == ["t|t"])
  }

  @Test func anImportHasTheContextOfItsOptions() throws {
    try load(FakeSource([EventRecord("a")])) { $0.context = "backfill" }
    #expect(try connection.ask("select context from quake.change_transaction") == "backfill")
  }

  @Test func anImportThatIsADryRunIsRolledBack() throws {
    try load(FakeSource([EventRecord("a", magnitude: 1)]))
    let token = try connection.latestToken()
    for commitEvery in [nil, 1] {
      let report = try load(
        FakeSource([
          .record(EventRecord("a", magnitude: 2)), .record(EventRecord("b")), .reject(.numbered(3)),
        ])
      ) {
        $0.dryRun = true
        $0.commitEvery = commitEvery
      }
      #expect(counts(report) == [3, 1, 1, 0, 1, 0, 0])
      #expect(report.id == nil && report.token == nil && report.isComplete)
    }
    #expect(try magnitudes() == ["a|1"])
    #expect(try connection.latestToken() == token)
    #expect(try connection.ask("select count(*) from quake.import") == "1")
    #expect(try connection.ask("select count(*) from quake.import_reject") == "0")
  }
}

private func json(_ column: EventColumn, _ record: EventRecord) -> String {
  var json = JSONWriter()
  json.value(of: column, in: record)
  return String(decoding: json.bytes, as: UTF8.self)
}
