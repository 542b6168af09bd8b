import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@testable import QuakeImport

/// Events that their agency deletes, and revives.
@Suite final class AgencyDeletionTests: DatabaseSuite {
  /// The two ways to import.
  private enum Way: CaseIterable {
    case snapshot, bulk
  }

  /// Imports records as a snapshot that was generated at an hour; nil: it is not known when.
  @discardableResult
  private func apply(
    _ records: EventRecord..., hour: Int?, way: Way = .snapshot, policy: MergePolicy = .incoming,
    columns: [EventColumn] = EventColumn.feed
  ) throws -> ImportReport {
    struct BegunAnew: Error {}
    return try connection.load(
      FakeSource(records, hour: hour, columns: columns),
      reopen: way == .bulk ? { _, _, _ in throw BegunAnew() } : nil
    ) { $0.policy = policy }
  }

  private func deleted(_ code: String, _ status: String = "deleted") -> EventRecord {
    var record = EventRecord(code, magnitude: nil)
    record.set(.status, status)
    return record
  }

  private func live(
    _ code: String, magnitude: Double = 5, ids: String? = nil
  ) -> EventRecord {
    var record = EventRecord(code, magnitude: magnitude, ids: ids)
    record.set(.status, "reviewed")
    record.set(.type, "earthquake")
    return record
  }

  /// Each event with its magnitude, status, and whether it is withdrawn.
  private func rows() throws -> [String] {
    try connection.table(
      """
      select code, magnitude, coalesce(type, '-'), coalesce(status, '-'), withdrawn_at is not null
        from quake.quake order by code
      """)
  }

  private func shown() throws -> [String] {
    try connection.table("select code from quake.current_quake order by code")
  }

  @Test(arguments: Way.allCases)
  private func aDeletedEventIsWithdrawnOnceAndComesBack(way: Way) throws {
    try apply(live("us1"), live("us2"), hour: 1, way: way)
    let gone = try apply(live("us1"), deleted("us2"), hour: 2, way: way)
    #expect(gone.withdrawn == 1 && gone.updated == 1 && gone.unchanged == 1 && gone.inserted == 0)
    #expect(try rows() == ["us1|5|earthquake|reviewed|f", "us2|5|earthquake|deleted|t"])
    #expect(try shown() == ["us1"])
    let again = try apply(live("us1"), deleted("us2"), hour: 3, way: way)
    #expect(again.unchanged == 2 && again.withdrawn == 0 && again.token == nil)

    let back = try apply(live("us2", magnitude: 6), hour: 4, way: way)
    #expect(back.restored == 1 && back.updated == 1)
    #expect(try rows() == ["us1|5|earthquake|reviewed|f", "us2|6|earthquake|reviewed|f"])
    #expect(try connection.table("select code from quake.absence") == [])
    // The event leaves the lists with its last values, and enters them with its new ones.
    #expect(
      try connection.table(
        """
        select op, magnitude, changed, withdrawn_at is not null from quake.quake_version
         where code = 'us2' order by id
        """) == [
          "insert|5||f", "update|5|{status,as_of,withdrawn_at}|t",
          "update|6|{status,magnitude,as_of,withdrawn_at}|f",
        ])
  }

  @Test(arguments: Way.allCases)
  private func aDeletedEventThatIsNotStoredIsNotInserted(way: Way) throws {
    let first = try apply(
      live("us1"), deleted("us2"), deleted("us3", "REJECTED"), hour: 1, way: way)
    #expect(first.inserted == 1 && first.unchanged == 2 && first.withdrawn == 0)
    let only = try apply(deleted("us4"), hour: 2, way: way)
    #expect(only.unchanged == 1 && only.token == nil)
    #expect(try rows() == ["us1|5|earthquake|reviewed|f"])
  }

  @Test(arguments: Way.allCases)
  private func theLastRecordOfACodeCounts(way: Way) throws {
    try apply(live("us0"), hour: 1)
    let deletedLast = try apply(live("us1"), deleted("us1"), hour: 2, way: .snapshot)
    #expect(deletedLast.duplicate == 1 && deletedLast.inserted == 0)
    #expect(try shown() == ["us0"])
    let liveLast = try apply(deleted("us2"), live("us2"), hour: 3, way: way)
    #expect(liveLast.duplicate == 1 && liveLast.inserted == 1)
    #expect(try shown() == ["us0", "us2"])
  }

  @Test func aDeletionOfUnknownAgeIsUndoneByAnySnapshot() throws {
    try apply(live("us1"), hour: nil)
    #expect(try apply(deleted("us1"), hour: nil).withdrawn == 1)
    #expect(try apply(deleted("us1"), hour: nil).token == nil)
    #expect(try shown() == [])
    #expect(try apply(live("us1"), hour: nil).restored == 1)
    #expect(try rows() == ["us1|5|earthquake|reviewed|f"])
    #expect(try apply(deleted("us1"), hour: nil).withdrawn == 1)
    #expect(try apply(live("us1"), hour: 1).restored == 1)
  }

  @Test func anOlderSnapshotNeitherDeletesNorRevives() throws {
    try apply(live("us1"), hour: 2)
    #expect(try apply(deleted("us1"), hour: 1).withdrawn == 0)
    try apply(deleted("us1"), hour: 4)
    #expect(try apply(live("us1"), hour: 3).restored == 0)
    #expect(try rows() == ["us1|5|earthquake|deleted|t"])
    #expect(try apply(live("us1"), hour: 3, policy: .always).restored == 1)
  }

  @Test func theTypeIsTheReasonWhereTheSourceGivesItSo() throws {
    let columns: [EventColumn] = [.code, .source, .type, .time, .magnitude]
    try apply(live("us1"), hour: 1)
    var gone = deleted("us1")
    gone.setNull(.status)
    gone.set(.type, "not existing")
    #expect(try apply(gone, hour: 2, columns: columns).withdrawn == 1)
    #expect(try rows() == ["us1|5|not existing|reviewed|t"])
    // A source without types cannot tell what the event is now.
    #expect(try apply(live("us1"), hour: 3, columns: [.code, .source, .time]).restored == 1)
    #expect(try rows() == ["us1|5|-|reviewed|f"])
  }

  @Test func policiesOfTheMergeDecideAboutDeletionsToo() throws {
    try apply(live("us1"), hour: 1)
    #expect(try apply(deleted("us1"), hour: 2, policy: .store).withdrawn == 0)
    #expect(throws: ImportRefusal.self) { try apply(deleted("us1"), hour: 2, policy: .error) }
    #expect(try apply(deleted("us2"), hour: 2, policy: .error).unchanged == 1)
    #expect(try shown() == ["us1"])
  }

  @Test(arguments: Way.allCases)
  private func anEventThatAnotherOneSupersedesIsNotWithdrawnAsWell(way: Way) throws {
    try apply(live("ak1", ids: ",ak1,"), hour: 1)
    try connection.execute("update quake.quake set validated = true")
    let report = try apply(
      deleted("ak1"), live("us1", ids: ",us1,ak1,"), live("us2"), hour: 2, way: way)
    #expect(report.superseded == 1 && report.withdrawn == 0)
    #expect(
      try rows() == [
        "ak1|5|earthquake|reviewed|f", "us1|5|earthquake|reviewed|f", "us2|5|earthquake|reviewed|f",
      ])
    #expect(try shown() == ["us1", "us2"])
    #expect(
      try connection.table("select code from quake.quake where validated order by code")
        == ["ak1", "us1"])
    #expect(try connection.table("select id, code from quake.quake_alias") == ["ak1|us1"])
  }

  @Test(arguments: Way.allCases)
  private func anEmptyStoreKnowsADeletedEventByItsSuccessor(way: Way) throws {
    let report = try apply(deleted("ak1"), live("us1", ids: ",us1,ak1,"), hour: 1, way: way)
    #expect(report.inserted == 1 && report.unchanged == 1)
    #expect(try connection.table("select id, code from quake.quake_alias") == ["ak1|us1"])
    #expect(
      try apply(deleted("ak1"), live("us1", ids: ",us1,ak1,"), hour: 2, way: way).token == nil)
  }

  @Test func aWithdrawalByHandStays() throws {
    try apply(live("us1"), hour: 1)
    try connection.execute("update quake.quake set withdrawn_at = now()")
    #expect(try apply(deleted("us1"), hour: 2).token == nil)
    #expect(try apply(live("us1", magnitude: 6), hour: 3).restored == 0)
    #expect(try rows() == ["us1|6|earthquake|reviewed|t"])
  }

  @Test func aDeletionInALaterBatchWithdrawsAnEventOfAnEarlierOne() throws {
    let records = [
      live("us1"), live("us2"), deleted("us1"), live("us3"), deleted("us3"), live("us1"),
    ]
    try connection.load(FakeSource(records, hour: 0), helpers: [try database.connect()]) {
      $0.commitEvery = 1
    }
    #expect(try shown() == ["us1", "us2"])
    #expect(
      try rows() == [
        "us1|5|earthquake|reviewed|f", "us2|5|earthquake|reviewed|f", "us3|5|earthquake|deleted|t",
      ])
  }

  @Test func anImportThatFailsAfterCommitsHasCountedTheWithdrawals() throws {
    try apply(live("us1"), live("us2"), hour: 0)
    struct Failure: Error {}
    let records = [live("us2"), deleted("us1"), live("us3")]
    let source = FakeSource(
      records.map { .record($0) } + [.action { throw Failure() }],
      generated: "2024-01-01T01:00:00Z")
    #expect(throws: Failure.self) { try connection.load(source) { $0.commitEvery = 1 } }
    #expect(
      try connection.table(
        "select complete, seen, updated, withdrawn from quake.import order by id desc limit 1")
        == ["f|2|1|1"])
  }

  @Test func theMigrationWithdrawsDeletedEventsThatAreStored() throws {
    let database = try TestDatabase.empty()
    let connection = try database.connect()
    try connection.migrate(upTo: 12)
    try connection.run(
      """
      insert into quake.quake (code, source, type, status, time, magnitude, as_of)
      select code, 'usgs', type, status, '2023-11-14T22:13:20Z', 5, '2024-01-01T01:00:00Z'
        from (values ('us1', 'earthquake', 'reviewed'), ('us2', null, null), ('us3', null, 'Deleted'),
                     ('us4', 'Not_Existing', 'reviewed'), ('us5', 'earthquake', 'rejected')) e (code, type, status)
      """)
    try connection.migrate()
    #expect(
      try connection.table("select code from quake.current_quake order by code") == ["us1", "us2"])
    #expect(
      try connection.table(
        "select code, type from quake.quake where withdrawn_at is not null order by code") == [
          "us3|", "us4|not existing", "us5|earthquake",
        ])
    #expect(
      try connection.table(
        "select op, withdrawn_at is not null from quake.change where code = 'us3' order by version")
        == [
          "insert|f", "update|t",
        ])
    let back = try connection.load(FakeSource([live("us3")], hour: 2))
    #expect(back.restored == 1 && back.updated == 1)
    #expect(
      try connection.table("select code from quake.current_quake order by code")
        == ["us1", "us2", "us3"])
  }

  /// A snapshot of unknown age has no time that the withdrawal could have.
  @Test(arguments: [1, nil])
  func afterAnUndoADeletedEventIsDeletedUntilItIsRevived(first: Int?) throws {
    try apply(live("us1"), hour: first)
    try apply(deleted("us1"), hour: first.map { $0 + 1 })
    try apply(live("us1", magnitude: 6), hour: first.map { $0 + 2 })
    #expect(try shown() == ["us1"])
    let token = try HistoryReader.latestToken(over: connection)
    let author = EditAuthor(program: "tests 1", author: "ann", context: nil)
    let undo = BatchRestore(EventRestore(.transactions([token]), by: author), over: connection)
    #expect(try undo.run().changed == 1)
    #expect(try rows() == ["us1|5|earthquake|deleted|t"])
    try apply(live("us1", magnitude: 7), hour: first.map { $0 + 3 })
    #expect(try rows() == ["us1|7|earthquake|reviewed|f"])
  }
}
