import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeImport

/// A code belongs to the source that stored it.
@Suite final class SourceOwnershipTests: DatabaseSuite {
  override init() throws {
    try super.init()
    try connection.run(
      """
      insert into quake.quake (code, source, time, magnitude, place, as_of)
      values ('us1', 'usgs', '2023-11-14T22:13:20Z', 7.7, 'far', '2024-01-01Z')
      """,
      "insert into quake.quake (code, time, magnitude) values ('hand1', '2023-11-14T22:13:20Z', 2)")
  }

  private func load(
    _ records: [EventRecord], hour: Int? = 2, columns: [EventColumn] = EventColumn.feed,
    inferred: Set<EventColumn> = [], policy: MergePolicy = .incoming, commitEvery: Int? = nil,
    isReopenable: Bool = false
  ) throws -> ImportReport {
    var source = FakeSource(records, hour: hour, columns: columns)
    source.inferredColumns = inferred
    return try connection.load(source, reopen: isReopenable ? { _, _, _ in } : nil) {
      $0.policy = policy
      $0.commitEvery = commitEvery
    }
  }

  private func stored() throws -> [String] {
    try connection.table(
      "select code, source, magnitude from quake.quake where code in ('us1', 'hand1') order by code"
    )
  }

  private static let before = ["hand1|local|2", "us1|usgs|7.7"]
  private static let reason =
    "The event \"us1\" belongs to the source \"usgs\", and the record is of the source \"mynet\"."

  /// Records of two events of their own, and of one of another source.
  private var records: [EventRecord] {
    [
      EventRecord("mynet:1", source: "mynet"), EventRecord("us1", magnitude: 3.4, source: "mynet"),
      EventRecord("mynet:2", source: "mynet"),
    ]
  }

  @Test(arguments: [MergePolicy.incoming, .always, .store])
  func everyKindOfImportRejectsRecordsOfEventsOfOtherSources(policy: MergePolicy) throws {
    // A snapshot of known and of unknown age, a bulk import, and one that commits more than once.
    let ways: [(hour: Int?, commitEvery: Int?, isReopenable: Bool)] = [
      (2, nil, false), (nil, nil, false), (3, nil, true), (4, 1, false), (4, 2, true),
    ]
    for way in ways {
      let report = try load(
        records, hour: way.hour, policy: policy, commitEvery: way.commitEvery,
        isReopenable: way.isReopenable)
      #expect(report.seen == 3 && report.rejected == 1 && report.updated == 0, "\(way)")
      #expect(report.firstReject?.reason == Self.reason)
      #expect(
        try connection.table(
          "select record, reason from quake.import_reject where import_id = \(report.id ?? 0)")
          == ["2|\(Self.reason)"], "\(way)")
      #expect(try stored() == Self.before)
    }
    #expect(try connection.historyFaults() == [])
  }

  @Test func aFileOfNothingButEventsOfOtherSourcesIsRefused() throws {
    let error = try #require(throws: ImportRefusal.self) {
      try load([EventRecord("us1", magnitude: 3.4, source: "mynet")])
    }
    #expect(error.message.contains(Self.reason))
    #expect(try stored() == Self.before)
  }

  @Test func importsLeaveEventsAloneThatAPersonMadeWithoutASource() throws {
    let report = try load([EventRecord("hand1", magnitude: 5), EventRecord("us1", magnitude: 7)])
    #expect(report.rejected == 1 && report.updated == 1)
    #expect(try stored() == ["hand1|local|2", "us1|usgs|7"])
    // A program that gives its records no source writes the local ones only.
    let local = try load(
      [EventRecord("hand1", magnitude: 6), EventRecord("us1", magnitude: 3)], hour: 3,
      columns: [.code, .time, .magnitude])
    #expect(local.rejected == 1 && local.updated == 1)
    #expect(try stored() == ["hand1|local|6", "us1|usgs|7"])
  }

  @Test func aRecordWithAnInferredSourceThatSaysNothingNewIsNoReject() throws {
    let columns: [EventColumn] = [.code, .source, .time, .magnitude]
    let same = try load(
      [EventRecord("hand1", magnitude: 2)], columns: columns, inferred: [.source])
    #expect(same.unchanged == 1 && same.rejected == 0)
    #expect(throws: ImportRefusal.self) {
      try load([EventRecord("hand1", magnitude: 3)], columns: columns, inferred: [.source])
    }
    #expect(try stored() == Self.before)
  }

  @Test func importsDoNotBringBackWhatAnotherSourceWithdrew() throws {
    try connection.run(
      "update quake.quake set withdrawn_at = '2024-01-01T01:00:00Z' where code = 'us1'",
      """
      insert into quake.absence (code, feed, snapshots, since, withdrawn_at)
      values ('us1', 'all_day', 3, '2024-01-01T00:30:00Z', '2024-01-01T01:00:00Z')
      """)
    let report = try load(records)
    #expect(report.restored == 0 && report.rejected == 1)
    #expect(
      try connection.table("select withdrawn_at is not null from quake.quake where code = 'us1'")
        == ["t"])
    #expect(try connection.table("select snapshots from quake.absence") == ["3"])
  }

  @Test func importsTakeNoOtherIDsOfEventsOfOtherSources() throws {
    _ = try load([EventRecord("us2", ids: ",us2,ci2,")])
    let ways: [(hour: Int?, commitEvery: Int?, isReopenable: Bool)] = [
      (3, nil, false), (nil, nil, false), (4, nil, true), (5, 1, false),
    ]
    for way in ways {
      let report = try load(
        [
          EventRecord("mynet:1", source: "mynet"),
          EventRecord("ci2", magnitude: 3.4, source: "mynet"),
        ], hour: way.hour, commitEvery: way.commitEvery, isReopenable: way.isReopenable)
      #expect(report.seen == 2 && report.rejected == 1 && report.superseded == 0, "\(way)")
      #expect(
        report.firstReject?.reason
          == "The event \"us2\", which is also \"ci2\", belongs to the source \"usgs\", and the record is of the source \"mynet\"."
      )
      #expect(
        try connection.table("select code from quake.quake where code like '%2'") == ["us2"],
        "\(way)")
      #expect(try connection.table("select id, code from quake.quake_alias") == ["ci2|us2"])
    }
    let renamed = try load([EventRecord("ci2", ids: ",us2,ci2,")], hour: 6)
    #expect(renamed.inserted == 1 && renamed.superseded == 1 && renamed.rejected == 0)
    #expect(try connection.historyFaults() == [])
  }
}
