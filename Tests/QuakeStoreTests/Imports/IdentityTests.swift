import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeImport

/// Each earthquake has one preferred row, although its preferred id changes.
@Suite final class IdentityTests: DatabaseSuite {
  @discardableResult
  private func apply(
    _ records: EventRecord..., hour: Int?, columns: [EventColumn] = EventColumn.feed
  ) throws -> ImportReport {
    try connection.load(FakeSource(records, hour: hour, columns: columns))
  }

  private func rows() throws -> [String] {
    try connection.table(
      "select code, coalesce(superseded_by, '-') from quake.quake order by code")
  }

  private func found(_ ids: String...) throws -> [String] {
    try ids.flatMap { try connection.table("select code from quake.find('\($0)')") }
  }

  @Test func anIdentityFollowsTheNewPreferredIDOnce() throws {
    try apply(EventRecord("ak1", magnitude: 6.7, ids: ",ak1,"), hour: 1)
    let report = try apply(EventRecord("us1", magnitude: 6.2, ids: ",us1,ak1,pt9,"), hour: 2)
    #expect(report.inserted == 1 && report.superseded == 1)
    #expect(try rows() == ["ak1|us1", "us1|-"])
    #expect(try found("ak1", "us1", "pt9") == ["us1", "us1", "us1"])
    #expect(try connection.table("select code from quake.current_quake") == ["us1"])
    #expect(
      try connection.table(
        """
        select t.token, v.op, v.code, v.changed from quake.quake_version v
          join quake.change_transaction t using (transaction_id) where t.token = 2 order by v.id
        """) == ["2|insert|us1|", "2|update|ak1|{superseded_by}"])
    // The same snapshot again writes nothing.
    let again = try apply(EventRecord("us1", magnitude: 6.2, ids: ",us1,ak1,pt9,"), hour: 3)
    #expect(again.token == nil && again.superseded == 0 && again.unchanged == 1)
  }

  private func marks() throws -> [String] {
    try connection.table(
      """
      select code, validated, withdrawn_at is not null, coalesce(superseded_by, '-')
        from quake.quake order by code
      """)
  }

  @Test func marksOfPersonsFollowThePreferredIDAndReturn() throws {
    try apply(EventRecord("a", ids: ",a,b,"), hour: 1)
    try connection.run("update quake.quake set validated = true, withdrawn_at = '2024-01-01Z'")
    let report = try apply(EventRecord("b", ids: ",a,b,"), hour: 2)
    #expect(report.inserted == 1 && report.superseded == 1)
    #expect(try marks() == ["a|t|t|b", "b|t|t|-"])
    // No watcher sees an event that is not withdrawn.
    #expect(
      try connection.table(
        "select op, withdrawn_at is not null from quake.change where code = 'b' order by version")
        == ["insert|t", "update|t"])
    // All of it is one transaction, and is not repeated.
    #expect(try connection.ask("select count(*) from quake.change_transaction") == "3")
    #expect(try apply(EventRecord("b", ids: ",a,b,"), hour: 3).token == nil)
    // A third id, and then marks that a person removes.
    try apply(EventRecord("c", ids: ",a,b,c,"), hour: 4)
    #expect(try marks() == ["a|t|t|c", "b|t|t|c", "c|t|t|-"])
    try connection.run(
      "update quake.quake set validated = false, withdrawn_at = null where code = 'c'")
    try apply(EventRecord("a", ids: ",a,b,c,"), hour: 5)
    #expect(try marks() == ["a|f|f|-", "b|t|t|a", "c|f|f|a"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func marksOfBothEventsThatTurnOutToBeOneAreKept() throws {
    try apply(EventRecord("a", ids: ",a,"), EventRecord("b", ids: ",b,"), hour: 1)
    try connection.run("update quake.quake set validated = true where code = 'b'")
    try apply(EventRecord("b", ids: ",a,b,"), hour: 2)
    #expect(try marks() == ["a|f|f|b", "b|t|f|-"])
    // After a split each event has the marks that it had.
    try apply(EventRecord("a", ids: ",a,"), EventRecord("b", ids: ",b,"), hour: 3)
    #expect(try marks() == ["a|f|f|-", "b|t|f|-"])
  }

  @Test func aSuccessorSetByAPersonFollowsThePreferredID() throws {
    try apply(EventRecord("a", ids: ",a,"), EventRecord("x", ids: ",x,"), hour: 1)
    try connection.run("update quake.quake set superseded_by = 'x' where code = 'a'")
    try apply(EventRecord("b", ids: ",a,b,"), EventRecord("x", ids: ",x,"), hour: 2)
    #expect(try marks() == ["a|f|f|x", "b|f|f|x", "x|f|f|-"])
    #expect(try found("a", "b") == ["x", "x"])
  }

  @Test func anImportLetsNoTwoRowsSupersedeEachOther() throws {
    try apply(EventRecord("a", ids: ",a,"), EventRecord("b", ids: ",b,"), hour: 1)
    try connection.run("update quake.quake set superseded_by = 'b' where code = 'a'")
    #expect(try apply(EventRecord("a", magnitude: 6, ids: ",a,b,"), hour: 2).superseded == 0)
    #expect(try rows() == ["a|b", "b|-"])
    // Nor over a third row.
    try connection.run(
      "update quake.quake set superseded_by = 'c' where code = 'a'",
      "insert into quake.quake (code, source, time, superseded_by) values ('c', 'usgs', now(), 'b')"
    )
    #expect(try apply(EventRecord("a", magnitude: 7, ids: ",a,b,"), hour: 3).superseded == 0)
    #expect(try rows() == ["a|c", "b|-", "c|b"])
    #expect(try found("a", "b") == ["b", "b"])
  }

  @Test func theStateSetByImportsDoesNotFollowThePreferredID() throws {
    try apply(EventRecord("a", ids: ",a,"), hour: 1)
    // As an import withdraws it.
    try connection.run(
      "update quake.quake set withdrawn_at = '2024-01-01T02:00:00Z'",
      """
      insert into quake.absence (code, feed, snapshots, since, withdrawn_at)
      values ('a', 'f', 3, '2024-01-01T01:30:00Z', '2024-01-01T02:00:00Z')
      """)
    try apply(EventRecord("b", ids: ",a,b,"), hour: 3)
    #expect(try marks() == ["a|f|t|b", "b|f|f|-"])
  }

  @Test func claimsOfAnotherSourceDoNotAffectAnIdentity() throws {
    try apply(EventRecord("a", ids: ",a,at1,"), hour: 1)
    let report = try apply(
      EventRecord("mine:1", ids: ",mine:1,a,at1,", source: "mine"), hour: 2)
    #expect(report.inserted == 1 && report.superseded == 0)
    #expect(try rows() == ["a|-", "mine:1|-"])
    #expect(try found("at1") == ["a"])
    #expect(
      try apply(EventRecord("mine:1", ids: ",mine:1,a,at1,", source: "mine"), hour: 3).token == nil)
  }

  @Test func noIdentityIsGuessedForAFileWithoutIDs() throws {
    let columns: [EventColumn] = [.code, .source, .time, .magnitude]
    try apply(EventRecord("a"), hour: 1, columns: columns)
    try apply(EventRecord("b"), hour: 2, columns: columns)
    #expect(try rows() == ["a|-", "b|-"])
    // But aliases stay known: a file of unknown age does not lead to a second preferred row.
    try apply(EventRecord("d", ids: ",d,c,"), hour: 3)
    let report = try apply(EventRecord("c"), hour: nil, columns: columns)
    #expect(report.superseded == 1)
    #expect(try rows() == ["a|-", "b|-", "c|d", "d|-"])
  }

  @Test func aSplitUndoesAnIdentityOfUnknownAge() throws {
    try apply(EventRecord("a", ids: ",a,"), hour: nil)
    try apply(EventRecord("b", ids: ",b,a,"), hour: nil)
    #expect(try rows() == ["a|b", "b|-"])
    // An old file does not lead to a second preferred row.
    try apply(EventRecord("a", ids: ",a,"), hour: nil)
    #expect(try rows() == ["a|b", "b|-"])
    try apply(EventRecord("a", ids: ",a,"), EventRecord("b", ids: ",b,"), hour: 1)
    #expect(try rows() == ["a|-", "b|-"])
  }

  @Test func identitiesOfManyNewEventsAreResolvedAtOnce() throws {
    try apply(EventRecord("b", ids: ",b,new1,"), hour: 2)
    let records = (Array(2...20_500) + [1]).map { EventRecord("new\($0)", ids: ",new\($0),") }
    try connection.load(FakeSource(records, hour: 1))
    #expect(try found("new1") == ["b"])
    #expect(
      try connection.table("select code from quake.current_quake where code in ('b', 'new1')")
        == ["b"])
  }

  @Test func contentsConfirmedByANewerSnapshotAreKept() throws {
    let scope = FeedScope(name: "all_month", source: "usgs", window: 30 * 86_400)
    func apply(_ magnitude: Double, _ minute: Int64) throws -> ImportReport {
      let event = EventRecord("a", magnitude: magnitude)
      let generated = Timestamp(microseconds: 1_700_100_000_000_000 + minute * 60_000_000)
      return try connection.load(FakeSource([event], generated: generated.description)) {
        $0.scope = scope
      }
    }
    #expect(try apply(1, 1).inserted == 1)
    #expect(try apply(1, 3).unchanged == 1)
    // Other contents in between do not matter.
    let late = try apply(2, 2)
    #expect(late.updated == 0 && late.stale == 1)
    #expect(try connection.table("select magnitude from quake.quake") == ["1"])
    #expect(try apply(2, 4).updated == 1)
  }
}
