import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeImport

/// A source that is not judged, is longer than a feed, or is committed in several transactions, is imported in
/// batches. The result must be the same as that of a snapshot import.
@Suite final class BulkImportTests: DatabaseSuite {
  /// How an import must take its way.
  private enum Reading {
    /// The source can be opened again, which the test does not expect: then `BegunAnew` is thrown.
    case reopenable
    /// The source cannot be opened again.
    case once
  }

  /// Thrown where an import begins anew.
  private struct BegunAnew: Error {}

  private static let before = "2024-01-01T00:00:00Z"
  private static let now = "2024-01-02T00:00:00Z"

  /// An event of more than a kilobyte: a few thousand are several batches.
  private func wide(_ code: String, magnitude: Double = 5, ids: String? = nil) -> EventRecord {
    EventRecord(
      code, magnitude: magnitude, place: String(repeating: "x", count: 1_000), ids: ids)
  }

  @discardableResult
  private func load(
    _ items: [FakeSource.Item], generated: String?, into other: Connection? = nil,
    commitEvery: Int? = nil, helpers: [Connection] = [], reading: Reading = .reopenable
  ) throws -> ImportReport {
    let connection = other ?? connection
    let report = try connection.load(
      FakeSource(items, generated: generated), helpers: helpers,
      reopen: reading == .once ? nil : { _, _, _ in throw BegunAnew() }
    ) { $0.commitEvery = commitEvery }
    #expect(report.isComplete)
    // The import's row has the same counts.
    #expect(
      try connection.table(
        """
        select seen, inserted, updated, unchanged, rejected, duplicate, complete
          from quake.import where id = \(try #require(report.id))
        """) == [
          "\(report.seen)|\(report.inserted)|\(report.updated)|\(report.unchanged)|\(report.rejected)|\(report.duplicate)|t"
        ])
    return report
  }

  /// Events, superseded rows among them, aliases and rejects, as far as they do not depend on the way.
  private func contents(_ connection: Connection) throws -> [String] {
    // Each store has its own times at which events were first stored.
    try connection.table("select to_jsonb(q) - 'first_stored' from quake.quake q order by code")
      + connection.table("select id, code from quake.quake_alias order by id")
      + connection.table(
        "select record, reason from quake.import_reject order by import_id, record")
  }

  /// Stored events, and a catalogue with new, unchanged, revised and repeated events, with some that supersede
  /// others, and with rejects.
  private func scene(
    _ seed: UInt64, newOnes: ClosedRange<Int>
  ) -> (old: [FakeSource.Item], new: [FakeSource.Item]) {
    var random = SeededGenerator(seed)
    let old = (0..<200).map { number in
      EventRecord("o\(number)", magnitude: 1, ids: ",o\(number),")
    }
    var items: [FakeSource.Item] = []
    var claimed: Set<Int> = []
    for number in 0..<Int.random(in: newOnes, using: &random) {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: items.append(.reject(.numbered(number)))
      case 1:
        let known = Int.random(in: 0..<150, using: &random)
        let magnitude = Double(1 + known % 2)
        items.append(
          .record(EventRecord("o\(known)", magnitude: magnitude, ids: ",o\(known),")))
      case 2:
        // From 150 on the events are in the catalogue under another id.
        let other = Int.random(in: 150..<260, using: &random)
        let isFirst = claimed.insert(other).inserted
        let ids = isFirst ? ",o\(other),n\(number)," : ",n\(number),"
        items.append(.record(EventRecord("n\(number)", ids: ids)))
      case 3 where number > 0:
        // The same code once more, soon after or much later.
        let again = Int.random(in: max(0, number - 60)..<number, using: &random)
        items.append(.record(EventRecord("t\(again)", magnitude: Double(number % 9), ids: nil)))
      default: items.append(.record(EventRecord("n\(number)", ids: ",n\(number),")))
      }
    }
    return (old.map { .record($0) }, items)
  }

  @Test(arguments: Seeds.first(1, of: 1...6))
  func aBulkImportHasTheResultOfASnapshotImport(seed: UInt64) throws {
    // Mostly new, or mostly known: new events are copied, others merged.
    let (old, new) = scene(seed, newOnes: 300...700)
    let whole = try TestDatabase()
    let connection = try whole.connect()
    try load(old, generated: Self.before, into: connection)
    let expected = try load(new, generated: Self.now, into: connection, reading: .once)
    let contents = try contents(connection)
    #expect(expected.superseded > 0 && expected.updated > 0 && expected.duplicate > 0)
    let ways = Tools.isSoak ? [(7, 0), (90, 0), (90, 1), (23, 2)] : [(7, 0), (23, 2)]
    for (every, helpers) in ways {
      let database = try TestDatabase()
      let connection = try database.connect()
      try load(old, generated: Self.before, into: connection)
      let report = try load(
        new, generated: Self.now, into: connection, commitEvery: every,
        helpers: try (0..<helpers).map { _ in try database.connect() })
      let difference = Set(try self.contents(connection)).symmetricDifference(contents)
      #expect(difference.isEmpty, "\(every) by \(helpers): \(difference.sorted())")
      #expect(report.seen == expected.seen && report.rejected == expected.rejected)
      #expect(report.inserted == expected.inserted)
      #expect(report.superseded == expected.superseded)
      #expect(try connection.historyFaults() == [])
      // Once more changes nothing.
      let again = try load(
        new, generated: Self.now, into: connection, commitEvery: every,
        helpers: try (0..<helpers).map { _ in try database.connect() })
      #expect(again.inserted == 0)
      #expect(try self.contents(connection).count == contents.count + Int(report.rejected))
    }
  }

  /// Seeds, and whether the import is the first one. Beside stored events a second seed adds newer data, and a third one
  /// repeats codes: see below.
  private static let feeds =
    Seeds.first(1, of: 1...6).map { (seed: $0, isFirst: true) }
    + Seeds.first(3, of: 1...6).map { (seed: $0, isFirst: false) }

  @Test(arguments: feeds)
  func aBulkImportOfAFeedHasTheResultOfASnapshotImport(seed: UInt64, isFirst: Bool) throws {
    // Of a kilobyte each, in any order: claimed ids and repeated codes are in other batches.
    var random = SeededGenerator(seed * 1_000)
    var (old, new) = scene(seed, newOnes: 1_500...2_500)
    for place in new.indices {
      if case .record(let record) = new[place] {
        new[place] = .record(
          wide(
            record.text(.code) ?? "", magnitude: record.double(.magnitude) ?? 0,
            ids: record.text(.ids)))
      }
    }
    // Some events claim ids that are codes of other records.
    for place in stride(from: 3, to: new.count, by: 40) {
      guard case .record(let record) = new[place], let code = record.text(.code) else { continue }
      new[place] = .record(wide(code, ids: ",\(code),n\(new.count - place),z\(place),"))
    }
    new.shuffle(using: &random)
    // Beside stored events a repeated code makes the import begin anew.
    let repeats = seed % 3 == 0
    if !isFirst, !repeats {
      var codes: Set<String> = []
      new.removeAll {
        guard case .record(let record) = $0 else { return false }
        return !codes.insert(record.text(.code) ?? "").inserted
      }
    }
    var ends: [[String]] = []
    var reports: [[Int64]] = []
    for staged in [false, true] {
      let database = try TestDatabase()
      let connection = try database.connect()
      // Into an empty store nothing is staged.
      let other = staged ? [FakeSource.Item.record(EventRecord("other"))] : []
      try load(isFirst ? other : old, generated: Self.before, into: connection)
      // A newer snapshot without a scope, which does not tell which events are missing.
      if !isFirst, seed % 2 == 0 {
        try load(
          [.record(EventRecord("other", ids: ",other,n7,o160,"))],
          generated: "2024-01-03T00:00:00Z", into: connection)
      }
      if !isFirst, repeats, !staged {
        let before = try contents(connection)
        #expect(throws: BegunAnew.self) {
          try load(new, generated: Self.now, into: connection)
        }
        #expect(try contents(connection) == before)
        return
      }
      let report = try load(
        new, generated: Self.now, into: connection, reading: staged ? .once : .reopenable)
      // Once more, where everything is stored.
      let again = try load(
        new, generated: Self.now, into: connection,
        reading: staged || isFirst ? .once : .reopenable)
      ends.append(try contents(connection).filter { !$0.contains("other") })
      reports.append([
        report.seen, report.inserted, report.updated, report.rejected, report.duplicate,
        report.superseded,
        again.inserted, again.rejected, again.duplicate, again.superseded,
      ])
      #expect(try connection.historyFaults() == [])
    }
    let difference = Set(ends[0]).symmetricDifference(ends[1])
    #expect(difference.isEmpty, "\(difference.sorted())")
    #expect(reports[0] == reports[1])
  }

  @Test func aSourceThatRepeatsACodeChangesNothingWhenItIsImportedAgain() throws {
    // Longer than a feed, so that the records are in different batches, and only the last one counts.
    var items = (1...26_000).map { FakeSource.Item.record(EventRecord("n\($0)", ids: ",n\($0),")) }
    items.insert(.record(EventRecord("twice", magnitude: 6, ids: ",twice,")), at: 0)
    items.append(.record(EventRecord("twice", magnitude: 2, ids: ",twice,")))
    try load(items, generated: Self.now)
    for magnitude in [2, 2, 3] as [Double] {
      items[items.count - 1] = .record(EventRecord("twice", magnitude: magnitude, ids: ",twice,"))
      var reasons: [String] = []
      let report = try connection.load(
        FakeSource(items, generated: Self.now),
        reopen: { reason, source, _ in
          reasons.append(reason)
          source = FakeSource(items, generated: Self.now)
        })
      #expect(reasons == ["an event is in it more than once"])
      #expect(report.updated == (magnitude == 3 ? 1 : 0) && report.duplicate == 1)
      #expect((report.token == nil) == (report.updated == 0))
    }
    #expect(try connection.historyFaults() == [])
  }

  @Test func aBulkImportThatRejectsAMissingEventBeginsAnewAsASnapshot() throws {
    try load(
      [.record(EventRecord("c1")), .record(EventRecord("c2"))], generated: Self.before)
    try connection.run(
      """
      insert into quake.absence (code, feed, snapshots, since)
      values ('c1', 'all_day', 1, '2024-01-01T12:00:00Z')
      """)
    let reject = ImportReject(place: "record 1", reason: "It is odd.", raw: "", code: "c1")
    let items = [FakeSource.Item.reject(reject), .record(EventRecord("c3"))]
    #expect(throws: BegunAnew.self) { try load(items, generated: Self.now) }
    var reasons: [String] = []
    let report = try connection.load(
      FakeSource(items, generated: Self.now),
      reopen: { reason, source, options in
        reasons.append(reason)
        source = FakeSource(items, generated: Self.now)
        options.etag = "second"
      })
    #expect(reasons == ["it rejects events that were counted as missing"])
    // The row is that of the second reading alone.
    #expect(
      try connection.table("select seen, etag from quake.import order by id")
        == ["2|", "2|second"])
    #expect(report.inserted == 1 && report.rejected == 1)
    #expect(try connection.ask("select count(*) from quake.absence") == "0")
  }

  @Test func aBulkImportHoldsNoMoreRejectsThanRecords() throws {
    let reject = ImportReject(
      place: "record 1", reason: "It is odd.", raw: String(repeating: "x", count: 10_000))
    var reader = ImportReader(FakeSource(Array(repeating: .reject(reject), count: 100)))
    let batch = RecordBatch(columns: reader.source.columns, capacity: 200_000)
    try reader.advance()
    var budget = RejectBudget(after: ImportReport())
    try batch.fill(from: &reader, limit: .max, bytes: 200_000, budget: &budget)
    #expect(reader.item != nil && batch.seen < 21 && batch.seen > 10)
  }

  @Test func aLongBulkImportIsOneTransactionAndRepeatingItWritesNothing() throws {
    let records = (0..<26_000).map { number in
      EventRecord(
        "c\(number * 7919 % 26_000)",
        ids: number % 9 == 0 ? ",c\(number * 7919 % 26_000),x\(number)," : nil)
    }
    let items = records.map { FakeSource.Item.record($0) }
    // The last record of a code wins, even if the first was written long before.
    let last = EventRecord("c0", magnitude: 9, ids: ",c0,x0,")
    let report = try load(
      items + [.reject(.numbered(1)), .record(last)], generated: Self.now)
    #expect(report.inserted == 26_000 && report.rejected == 1)
    // A code that occurs again after more records than a feed has is not known as a duplicate.
    #expect(report.updated == 1 && report.duplicate == 0)
    #expect(
      try connection.table(
        "select inserted, updated from quake.change_transaction") == ["26000|1"])
    #expect(try connection.ask("select magnitude from quake.quake where code = 'c0'") == "9")
    #expect(try connection.ask("select record from quake.import_reject") == "26001")
    #expect(try connection.ask("select count(*) from quake.quake_alias") == "\(26_000 / 9 + 1)")
    #expect(try connection.historyFaults() == [])
    let token = try connection.latestToken()
    let again = try load(
      items.dropFirst() + [.record(last)], generated: Self.now)
    #expect(again.unchanged + again.duplicate == 26_000)
    #expect(try connection.latestToken() == token)
    // And with a few that differ.
    let changed = (0..<100).map { EventRecord("c\($0 * 260)", magnitude: 6) }
    let third = try load(
      records.dropFirst(100).map { .record($0) } + changed.map { .record($0) },
      generated: "2024-01-03T00:00:00Z")
    #expect(third.inserted == 0 && third.updated >= 100)
    #expect(
      try connection.ask("select count(*) from quake.quake where magnitude = 6") == "100")
    #expect(try connection.historyFaults() == [])
  }

  @Test func aBulkImportRestoresAndFreesEventsWithUnchangedContents() throws {
    let records = (0..<60).map { EventRecord("c\($0)", magnitude: 0, ids: ",c\($0),") }
    // c30 belongs to c0.
    let first = [EventRecord("c0", magnitude: 0, ids: ",c0,c30,")] + records[1...]
    try load(
      first.filter { $0.text(.code) != "c30" }.map { .record($0) } + [
        .record(EventRecord("c30", magnitude: 0, ids: ",c30,"))
      ], generated: "2023-01-01T00:00:00Z")
    try load([.record(first[0])], generated: Self.before)
    for statement in [
      """
      insert into quake.absence (code, feed, snapshots, since, withdrawn_at) values
        ('c31', 'all_day', 1, '2024-01-01T00:00:00Z', null),
        ('c32', 'all_day', 3, '2024-01-01T00:00:00Z', '2024-01-01T00:00:00Z')
      """,
      "update quake.quake set withdrawn_at = '2024-01-01T00:00:00Z' where code = 'c32'",
      "update quake.quake set magnitude = '-0' where code = 'c33'",
      "update quake.quake set place = 'by hand' where code = 'c34'",
    ] {
      try connection.run(statement)
    }
    #expect(
      try connection.table(
        """
        select code from quake.quake
         where superseded_by is not null or withdrawn_at is not null order by code
        """) == ["c30", "c32"])
    // The first ten are staged, in any case.
    let report = try load(
      records.map { .record($0) }, generated: Self.now, commitEvery: 10)
    #expect(report.updated == 2 && report.unchanged == 58 && report.inserted == 0)
    #expect(report.restored == 2)
    #expect(try connection.ask("select place is null from quake.quake where code = 'c34'") == "t")
    // -0 is 0: nothing is written.
    #expect(try connection.ask("select magnitude from quake.quake where code = 'c33'") == "-0")
    #expect(
      try connection.ask(
        """
        select count(*) from quake.quake
         where superseded_by is not null or withdrawn_at is not null
        """) == "0")
    #expect(try connection.ask("select count(*) from quake.absence") == "0")
    #expect(try connection.ask("select count(*) from quake.quake_alias") == "0")
    #expect(try connection.historyFaults() == [])
  }

  @Test func aBulkImportKeepsEventsApartThatOthersClaim() throws {
    // More than a feed has, so that claims are resolved before the end.
    var records = (0..<20_000).map { EventRecord("a\($0)") } + (0..<3_000).map { wide("c\($0)") }
    // c0 claims c1200, which occurs later; c2500 claims c0; and c2990, in a batch with an event that is
    // stored already, claims both and c2980.
    records[20_000] = wide("c0", ids: ",c0,c1200,x,")
    records[22_500] = wide("c2500", ids: ",c2500,c0,y,")
    records[22_990] = wide("c2990", ids: ",c2990,c1200,c0,c2980,z,")
    records.append(wide("c5", magnitude: 7))
    let report = try load(records.map { .record($0) }, generated: Self.now)
    #expect(report.inserted == 23_000 && report.updated == 1 && report.superseded == 0)
    #expect(
      try connection.ask("select count(*) from quake.quake where superseded_by is not null") == "0")
    #expect(
      try connection.table("select id, code from quake.quake_alias order by id")
        == ["x|c0", "y|c2500", "z|c2990"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func aBulkImportThatOnlyAddsInsertsAliasesAsSuperseded() throws {
    try load(
      [.record(EventRecord("y", ids: ",y,x,"))], generated: Self.now)
    try connection.load(FakeSource([EventRecord("x", ids: ",x,")], generated: Self.before)) {
      $0.policy = .store
    }
    #expect(
      try connection.table("select code, superseded_by from quake.quake order by code")
        == ["x|y", "y|"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func aFailedBulkImportIsRolledBackOrKeepsItsCommits() throws {
    struct Broken: Error {}
    let items =
      (0..<25_000).map { FakeSource.Item.record(EventRecord("c\($0)")) } + [
        .action { throw Broken() }
      ]
    #expect(throws: Broken.self) { try load(items, generated: Self.now) }
    #expect(connection.isIdle)
    #expect(try connection.ask("select count(*) from quake.quake") == "0")
    #expect(try connection.ask("select count(*) from quake.import") == "0")
    let helper = try database.connect()
    #expect(throws: Broken.self) {
      try load(
        items, generated: Self.now, commitEvery: 1_000, helpers: [helper])
    }
    #expect(connection.isIdle && helper.isIdle)
    let stored = try #require(Int(try connection.ask("select count(*) from quake.quake") ?? ""))
    #expect(stored > 20_000 && stored <= 25_000 && stored % 1_000 == 0)
    #expect(try connection.table("select inserted, complete from quake.import") == ["\(stored)|f"])
    #expect(try connection.historyFaults() == [])
  }

  /// The stored y has claimed x0 to x5, and z claims y. The transaction of z writes their rows, and so does that of their
  /// own records, over another connection.
  @Test func transactionsOfAnImportDoNotWaitForEachOther() throws {
    let xs = (0...5).map { "x\($0)" }
    func events(_ numbers: Range<Int>, _ magnitude: Double) -> [EventRecord] {
      numbers.map { EventRecord("e\($0)", magnitude: magnitude) }
    }
    let old = events(0..<50_000, 5) + xs.map { EventRecord($0) }
    try load(old.map { .record($0) }, generated: Self.before)
    let y = EventRecord("y", ids: ",y," + xs.joined(separator: ",") + ",")
    try load([.record(y)], generated: Self.before)
    #expect(
      try connection.ask("select count(*) from quake.quake where superseded_by = 'y'") == "6")
    // What follows the first 20,000 events is written in batches, over each connection in turn. A batch has some thousand
    // events; of this distance some x are in one of the second connection.
    var new = events(0..<20_000, 5) + [EventRecord("z", ids: ",z,y,")]
    for (number, x) in xs.enumerated() {
      let first = 20_000 + 2_000 * number
      new += events(first..<first + 2_000, 6) + [EventRecord(x, magnitude: 6)]
    }
    new += events(32_000..<50_000, 6)
    let report = try load(
      new.map { .record($0) }, generated: Self.now, commitEvery: 60_000,
      helpers: [try database.connect()])
    #expect(report.seen == 50_007)
    #expect(
      try connection.table(
        "select code, superseded_by from quake.quake where code in ('y', 'z') order by code")
        == ["y|z", "z|"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func aBulkImportMergesEventsThatAnotherSessionInserts() throws {
    let other = try database.connect()
    let items = (0..<300).map { FakeSource.Item.record(EventRecord("c\($0)")) }
    let report = try load(
      items[..<100] + [
        // The import does not know of it, and expects new events.
        .action {
          try other.run(
            "insert into quake.quake (code, source, time, magnitude) values ('c150', 'usgs', now(), 1)"
          )
        }
      ] + items[100...], generated: Self.now, commitEvery: 50)
    #expect(report.inserted == 299 && report.updated == 1)
    #expect(try connection.ask("select magnitude from quake.quake where code = 'c150'") == "5")
    #expect(try connection.historyFaults() == [])
  }
}
