import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@testable import QuakeImport

/// Snapshots of a feed of all events of a day, one after the other, good and bad.
@Suite final class JudgingTests: DatabaseSuite {
  private static let day = FeedScope(name: "all_day", source: "usgs", window: 86_400)
  /// Noon; events are placed before it.
  private static let noon = Timestamp(microseconds: 1_700_049_600_000_000)

  private static func time(_ minutes: Int64) -> Timestamp {
    Timestamp(microseconds: noon.microseconds + minutes * 60_000_000)
  }

  /// Event number `n`, which happened ten times as many minutes before noon.
  private static func event(_ n: Int, magnitude: Double = 1, revised: Int64 = 0) -> EventRecord {
    var record = EventRecord("us\(n)", magnitude: magnitude)
    record.set(.time, time(Int64(-10 * n)))
    record.set(.updated, time(Int64(-10 * n) + 1 + revised))
    return record
  }

  private var lacking10: [EventRecord] { events((1...60).filter { $0 != 10 }) }

  /// Imports events as a snapshot generated `minutes` after noon.
  @discardableResult
  private func apply(
    _ events: [EventRecord], at minutes: Int64, rejects: [ImportReject] = [],
    scope: FeedScope = day, _ change: (inout SnapshotLimits) -> Void = { _ in }
  ) throws -> ImportReport {
    let source = FakeSource(
      events.map { .record($0) } + rejects.map { .reject($0) },
      generated: Self.time(minutes).description)
    var limits = SnapshotLimits()
    change(&limits)
    return try connection.load(source) {
      $0.feed = "all_day"
      $0.limits = limits
      $0.scope = scope
    }
  }

  private func events(_ numbers: some Sequence<Int>) -> [EventRecord] {
    numbers.map { Self.event($0) }
  }

  private func withdrawn() throws -> [String] {
    try connection.table(
      "select code from quake.quake where withdrawn_at is not null order by code")
  }

  /// The tables that must not change when a snapshot goes into quarantine.
  private func state() throws -> [String] {
    try connection.table("select q::text from quake.quake q order by code")
      + connection.table("select count(*) from quake.quake_version")
      + connection.table("select a::text from quake.absence a order by code")
      + connection.table("select count(*) from quake.change_transaction")
  }

  private func expectSetAside(
    _ reason: QuarantineReason, _ import: () throws -> ImportReport
  ) throws {
    let before = try state()
    let report = try `import`()
    #expect(report.quarantine?.reason == reason, "\(String(describing: report.quarantine))")
    #expect(try state() == before)
    #expect(
      try connection.table(
        """
        select quarantine_reason, inserted, updated, token is null, covers_to is null
          from quake.import where id = \(report.id ?? 0)
        """) == ["\(reason.rawValue)|0|0|t|t"])
  }

  // MARK: - Good ones

  @Test func aSnapshotWithTheChangesOfANormalDayIsApplied() throws {
    try apply(events(1...60), at: 0)
    // Three new events, two revised, one missing, one reviewed with an older time of update.
    let next =
      events(4...60) + [Self.event(2, magnitude: 3, revised: 5), Self.event(-1), Self.event(0)]
      + [Self.event(3, magnitude: 2, revised: -1)]
    let report = try apply(next, at: 20)
    #expect(report.quarantine == nil)
    #expect(report.inserted == 2 && report.updated == 2 && report.withdrawn == 0)
    // Nothing is new, and the newest event is missing: that alone does not show a stale snapshot.
    let without = next.filter { $0.text(.code) != "us-1" }
    #expect(try apply(without, at: 60).quarantine == nil)
  }

  @Test func aSnapshotNeedNotHoldEventsOutsideItsWindowOrCatalogue() throws {
    var foreign = Self.event(5)
    foreign.set(.code, "emsc:5")
    foreign.set(.source, "emsc")
    try apply(events(100...143) + [foreign], at: 0)
    // A day later none of these should be there.
    let report = try apply(events(-144 ... -120), at: 1440)
    #expect(report.quarantine == nil && report.inserted == 25)
    #expect(try connection.table("select count(*) from quake.absence") == ["0"])
  }

  @Test(arguments: ["truncate quake.quake", "delete from quake.quake"])
  func eventsThatSQLHasDeletedAreNotMissingInNewerSnapshots(statement: String) throws {
    for minutes in [0, 20, 40, 60, 80] as [Int64] {
      try apply(events(Int(-minutes / 10)...60), at: minutes)
    }
    try connection.run(statement)
    // Newer ones had these events.
    let report = try apply(events(0...60), at: 10) { $0.refusesOlder = false }
    #expect(report.inserted == 61 && report.withdrawn == 0, "\(report)")
    #expect(try connection.ask("select count(*) from quake.absence") == "0")
  }

  // MARK: - Bad ones

  @Test func anEmptySnapshotIsQuarantined() throws {
    try expectSetAside(.empty) { try apply([], at: 0) }
    try apply(events(1...60), at: 0)
    try expectSetAside(.empty) { try apply([], at: 5) }
    // A feed of great earthquakes may be empty, unless the store knows many.
    let great = FeedScope(
      name: "4.5_day", source: "usgs", window: 86_400, minimumMagnitude: 4.45)
    #expect(try apply([], at: 6, scope: great).quarantine == nil)
    try apply((1...60).map { Self.event($0, magnitude: 5) }, at: 7)
    try expectSetAside(.empty) { try apply([], at: 8, scope: great) }
  }

  @Test func aSnapshotThatLacksTooManyEventsIsQuarantined() throws {
    try apply(events(1...60), at: 0)
    try expectSetAside(.massLoss) {
      try apply(events((1...60).filter { $0 % 5 < 3 }), at: 5)
    }
    #expect(
      try apply(events((1...60).filter { $0 % 5 < 3 }), at: 5) { $0.missing = 0.5 }.quarantine
        == nil)
  }

  @Test func applyingASnapshotByHandChangesWhatTheNextShouldHold() throws {
    try apply(events(1...60), at: 0)
    let half = events((1...60).filter { $0 % 2 == 0 })
    let first = try #require(try apply(half, at: 5).id)
    try expectSetAside(.massLoss) { try apply(half, at: 6) }
    try connection.load(
      FakeSource(half, generated: Self.time(5).description),
      by: {
        try $0.run(
          from: &$1,
          beforeCommit: {
            try Quarantine(connection: connection).decide(on: first, appliedBy: $0.id)
          })
      }
    ) {
      $0.feed = "all_day"
      $0.scope = Self.day
    }
    #expect(try withdrawn().isEmpty)
    #expect(try apply(half, at: 7).quarantine == nil)
    // But not more events than that.
    try expectSetAside(.massLoss) {
      try apply(events((1...60).filter { $0 % 4 == 0 }), at: 8)
    }
    #expect(try apply(half, at: 9).withdrawn == 29)
  }

  @Test func aNewerSnapshotThatLacksAFewEventsIsApplied() throws {
    try apply(events(4...60), at: 0)
    // The three that were updated last.
    for minutes in [5, 6, 7] as [Int64] {
      #expect(try apply(events(7...60), at: minutes).quarantine == nil)
    }
    #expect(try withdrawn() == ["us4", "us5", "us6"])
    // With older contents of one event it is stale.
    try apply(events(10...60) + [7, 8, 9].map { Self.event($0, revised: 200) }, at: 11)
    try expectSetAside(.stale) { try apply(events(7...60), at: 12) }
  }

  @Test func aStaleSnapshotIsQuarantined() throws {
    try apply(events(1...60), at: 0)
    try expectSetAside(.stale) { try apply(events(1...60), at: -1) }
    try apply(events(-5...60), at: 55)
    // The contents of an hour ago, with the present time.
    try expectSetAside(.stale) { try apply(events(1...60), at: 60) }
    // If older snapshots are not refused, it is merged.
    #expect(try apply(events(1...60), at: -1) { $0.refusesOlder = false }.quarantine == nil)
    // The newest event is hours old.
    try expectSetAside(.stale) {
      try apply(events(30...60), at: 61) { $0.longestSilence = .seconds(3 * 3600) }
    }
  }

  @Test func aSnapshotWithImpossibleTimesIsQuarantined() throws {
    try apply(events(1...60), at: 0)
    let unset = (1...7).map { number in
      var event = Self.event(number)
      event.set(.time, Timestamp(microseconds: 2_000_000))
      return event
    }
    let unreadable = (1...7).map {
      ImportReject(
        place: "record \($0)", reason: "no time", raw: "raw", code: "us\($0)", isOfTime: true)
    }
    try expectSetAside(.implausibleTimes) { try apply(events(8...60) + unset, at: 5) }
    try expectSetAside(.implausibleTimes) {
      try apply(events(8...60), at: 5, rejects: unreadable)
    }
    let future = (1...7).map { number in
      var event = Self.event(number)
      event.set(.updated, Self.time(3 * 1440))
      return event
    }
    try expectSetAside(.implausibleTimes) { try apply(events(8...60) + future, at: 5) }
    // Two are within the limit: they are rejected, and not counted as missing.
    for minutes in [6, 7, 8, 9] as [Int64] {
      let report = try apply(
        events((1...60).filter { $0 != 6 && $0 != 7 }) + [unset[5]], at: minutes,
        rejects: [unreadable[6]])
      #expect(report.quarantine == nil)
      #expect(report.rejected == 2 && report.updated == 0 && report.withdrawn == 0)
    }
    #expect(try withdrawn().isEmpty)
    #expect(
      try connection.table(
        "select extract(year from time) from quake.quake where code in ('us6', 'us7')")
        == ["2023", "2023"])
  }

  @Test func aSnapshotThatClaimsTheFutureIsQuarantined() throws {
    let century = Int64(100 * 365 * 1440)
    try expectSetAside(.implausibleTimes) { try apply(events(1...60), at: century) }
    #expect(try connection.table("select generated is null from quake.import") == ["t"])
    try apply(events(1...60), at: 0)
    try expectSetAside(.implausibleTimes) { try apply(lacking10, at: century) }
    // The honest snapshots that follow are judged as if it had never been.
    #expect(try apply(lacking10, at: 1).quarantine == nil)
  }

  @Test func aSnapshotOfWhichAllEventsAreRejectedIsQuarantined() throws {
    try expectSetAside(.damaged) {
      try apply([], at: 0, rejects: (1...3).map(ImportReject.numbered))
    }
  }

  // MARK: - Withdrawal

  @Test func anEventThatSeveralSnapshotsLackIsWithdrawnUntilItReturns() throws {
    try apply(events(1...60), at: 0)
    for minutes in [1, 2] as [Int64] {
      #expect(try apply(lacking10, at: minutes).withdrawn == 0)
    }
    // The same snapshot again, an older one, and a bad one do not count.
    #expect(try apply(lacking10, at: 2).withdrawn == 0)
    #expect(try apply(lacking10, at: 1) { $0.refusesOlder = false }.withdrawn == 0)
    #expect(try apply([], at: 3).quarantine != nil)
    #expect(try withdrawn().isEmpty)
    let third = try apply(lacking10, at: 4)
    #expect(third.withdrawn == 1)
    #expect(try withdrawn() == ["us10"])
    #expect(
      try connection.table(
        "select op, changed from quake.quake_version where code = 'us10' order by id")
        == ["insert|", "update|{withdrawn_at}"])
    // An older snapshot that has the event does not restore it; a newer one does.
    #expect(try apply(events(1...60), at: 0) { $0.refusesOlder = false }.restored == 0)
    #expect(try withdrawn() == ["us10"])
    let back = try apply(lacking10 + [Self.event(10, magnitude: 2)], at: 5)
    #expect(back.restored == 1 && back.updated == 1)
    #expect(try withdrawn().isEmpty)
    #expect(try connection.table("select count(*) from quake.absence") == ["0"])
    // The same, while nothing else has changed.
    for minutes in [6, 7, 8] as [Int64] { try apply(lacking10, at: minutes) }
    #expect(try withdrawn() == ["us10"])
    let same = try apply(lacking10 + [Self.event(10, magnitude: 2)], at: 9)
    #expect(same.restored == 1 && same.updated == 0)
  }

  private func undoLatest() throws -> Int64 {
    let token = try HistoryReader.latestToken(over: connection)
    let author = EditAuthor(program: "tests 1", author: "ann", context: nil)
    return try BatchRestore(EventRestore(.transactions([token]), by: author), over: connection)
      .run().changed
  }

  @Test func afterAnUndoAnEventIsWithdrawnAndReturnsAsBefore() throws {
    try apply(events(1...60), at: 0)
    for minutes in [1, 2, 3] as [Int64] { try apply(lacking10, at: minutes) }
    #expect(try withdrawn() == ["us10"])
    #expect(try apply(lacking10 + [Self.event(10, magnitude: 2)], at: 4).restored == 1)
    for minutes in [5, 6] as [Int64] {
      #expect(try undoLatest() == 1)
      #expect(try withdrawn() == ["us10"])
      #expect(
        try connection.table("select code, feed, withdrawn_at is null from quake.absence")
          == ["us10|all_day|f"])
      let back = lacking10 + [Self.event(10, magnitude: Double(minutes))]
      #expect(try apply(back, at: minutes).restored == 1)
      #expect(try withdrawn().isEmpty)
    }
    // After the undo of a withdrawal, counting begins anew.
    for minutes in [8, 9, 10] as [Int64] { try apply(lacking10, at: minutes) }
    #expect(try withdrawn() == ["us10"])
    #expect(try undoLatest() == 1)
    for minutes in [11, 12] as [Int64] {
      #expect(try apply(lacking10, at: minutes).withdrawn == 0)
    }
    #expect(try apply(lacking10, at: 13).withdrawn == 1)
  }

  @Test func afterAnUndoAWithdrawalByAPersonStays() throws {
    try apply(events(1...60), at: 0)
    try connection.execute("update quake.quake set withdrawn_at = now() where code = 'us1'")
    let revised = events(2...60) + [Self.event(1, magnitude: 3)]
    try apply(revised, at: 1)
    #expect(try undoLatest() == 1)
    try connection.execute("update quake.quake set withdrawn_at = null where code = 'us1'")
    #expect(try undoLatest() == 1)
    #expect(try withdrawn() == ["us1"])
    try apply(revised, at: 2)
    #expect(try withdrawn() == ["us1"])
  }

  @Test func aSnapshotResetsTheAbsencesOfTheEventsItHolds() throws {
    try apply(events(1...60), at: 0)
    for minutes in 1...12 as ClosedRange<Int64> {
      let isThere = minutes % 3 == 0
      #expect(
        try apply(isThere ? events(1...60) : lacking10, at: minutes).withdrawn == 0, "\(minutes)")
    }
    #expect(try connection.table("select count(*) from quake.absence") == ["0"])
    try apply(lacking10, at: 13)
    #expect(
      try connection.table("select code, feed, snapshots from quake.absence")
        == ["us10|all_day|1"])
  }

  @Test func aSnapshotKeepsAWithdrawalByAPerson() throws {
    try apply(events(1...60), at: 0)
    try connection.execute("update quake.quake set withdrawn_at = now() where code = 'us1'")
    try connection.execute("update quake.quake set superseded_by = 'us9' where code = 'us2'")
    #expect(try apply(events(1...60), at: 1).restored == 0)
    #expect(
      try connection.table(
        "select code from quake.current_quake where code in ('us1', 'us2')") == [])
  }

  // MARK: - Quarantine

  /// The server's validators tell, or without them the body.
  @Test func aBadSnapshotThatIsRepeatedIsStoredOnce() throws {
    func ids(_ snapshots: [(etag: String?, body: String)]) throws -> [Int64?] {
      try snapshots.map { etag, body in
        var source = FakeSource([EventRecord](), generated: Self.time(0).description)
        source.body = body
        return try connection.load(source) {
          $0.feed = "all_day"
          $0.limits = SnapshotLimits()
          $0.scope = Self.day
          $0.etag = etag
        }.id
      }
    }
    let tagged = try ids(["a", "a", "b", "a"].map { ($0, "") })
    #expect(tagged[0] == tagged[1] && Set(tagged).count == 3)
    let plain = try ids(["bad", "bad", "odd", "bad", "", ""].map { (nil, $0) })
    #expect(plain[0] == plain[1] && plain[4] == plain[5] && Set(plain).count == 4)
    #expect(try connection.table("select count(*) from quake.import") == ["7"])
    #expect(try connection.table("select count(*) from quake.import_body") == ["3"])
  }
}
