import Postgres
import QuakeImport
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@Suite struct DeletedEventTests {
  private let scene: EditScene

  init() throws {
    scene = try EditScene()
  }

  private func feed(_ count: Int = 8, place: String? = nil) -> [EventRecord] {
    (1...count).map { EventRecord("us\($0)", place: place, ids: ",us\($0),") }
  }

  @Test(arguments: EditScene.Way.allCases)
  func deletedEventsStayDeletedInEveryImportUntilTheyAreRestored(way: EditScene.Way) throws {
    try scene.load(feed(), way)
    let before = try scene.events()
    let outcome = try scene.edit(.delete, codes: ["us2", "us3", "us7"])
    #expect(outcome.changed == 3)
    #expect(outcome.isFinished)
    let left = try scene.events()
    #expect(try scene.tombstones() == ["us2|deleted|ann", "us3|deleted|ann", "us7|deleted|ann"])
    // The same snapshot again, and one with other contents of deleted events.
    #expect(try scene.load(feed(), generated: "2026-01-02T00:00:00Z", way).inserted == 0)
    #expect(try scene.events() == left)
    let revised = feed().map { record in
      var record = record
      if ["us2", "us3", "us7"].contains(record.text(.code)) { record.set(.place, "elsewhere") }
      return record
    }
    let again = try scene.load(revised, generated: "2026-01-03T00:00:00Z", way)
    #expect(again.inserted == 0)
    #expect(again.unchanged == 8)
    #expect(try scene.events() == left)
    // A new event beside them comes in.
    #expect(try scene.load(feed(9), generated: "2026-01-04T00:00:00Z", way).inserted == 1)
    #expect(try scene.restore(codes: ["us2", "us3", "us7"]).changed == 3)
    #expect(try scene.tombstones() == [])
    #expect(try scene.events().filter { !$0.hasPrefix("us9|") } == before)
    #expect(try scene.historyAgrees())
    // Now the feed revises them again.
    #expect(try scene.load(revised, generated: "2026-01-05T00:00:00Z", way).updated == 3)
  }

  @Test func deletedEventsAreListedAsWithdrawnIfAQueryAsksForThem() throws {
    try scene.load(feed())
    try scene.edit(.delete, codes: ["us2", "us3"])
    try scene.connection.run("update quake.quake set withdrawn_at = now() where code = 'us4'")
    var query = EventQuery()
    func codes() throws -> Set<String> {
      Set(try query.page(over: scene.connection).events.compactMap { $0.text(.code) })
    }
    #expect(try codes() == ["us1", "us5", "us6", "us7", "us8"])
    query.past = .deleted
    #expect(try codes() == Set((1...8).map { "us\($0)" }))
    #expect(try query.count(over: scene.connection) == 8)
    query.filter.conditions = [.isPresent(.withdrawnAt)]
    #expect(try codes() == ["us2", "us3", "us4"])
    query.filter.codes = ["us3"]
    let event = try #require(try query.page(over: scene.connection).events.first)
    #expect(event.text(.ids) == ",us3,")
    #expect(event.has(.withdrawnAt))
    // Restored, it is an event like the others.
    #expect(try scene.restore(codes: ["us3"]).changed == 1)
    #expect(try codes() == [])
  }

  @Test(arguments: EditScene.Way.allCases)
  func deletedEventsStayDeletedWhenTheStoreIsEmpty(way: EditScene.Way) throws {
    try scene.load(feed(), way)
    #expect(try scene.edit(.delete).changed == 8)
    #expect(try scene.load(feed(), generated: "2026-01-02T00:00:00Z", way).inserted == 0)
    #expect(try scene.codes() == [])
    #expect(try scene.restore(.events(EventSelection())).changed == 8)
    #expect(try scene.codes().count == 8)
  }

  @Test(arguments: EditScene.Way.allCases)
  func deletedEventsStayDeletedUnderTheirOtherIDs(way: EditScene.Way) throws {
    try scene.load(feed() + [EventRecord("ci1", ids: ",ci1,us901,")], way)
    let before = try scene.events()
    try scene.edit(.delete, codes: ["ci1"])
    func load(_ code: String, _ ids: String, _ day: Int) throws -> ImportReport {
      try scene.load(
        feed() + [EventRecord(code, ids: ids)], generated: "2026-01-0\(day)T00:00:00Z", way)
    }
    // Known as an id of the deleted event.
    #expect(try load("us901", ",us901,", 2).inserted == 0)
    // Has the deleted event's code among its ids.
    #expect(try load("nn5", ",nn5,ci1,", 3).inserted == 0)
    // Is linked to it by the event before alone.
    #expect(try load("at6", ",at6,nn5,", 4).inserted == 0)
    #expect(try scene.codes() == feed().compactMap { $0.text(.code) })
    #expect(try scene.restore(codes: ["at6"]).changed == 1)
    #expect(try scene.events() == before)
    // Not deleted any more: now the new id supersedes the old one.
    #expect(try load("nn5", ",nn5,ci1,", 5).inserted == 1)
    #expect(
      try scene.connection.ask("select superseded_by from quake.quake where code = 'ci1'") == "nn5")
  }

  @Test func aDeletedEventDoesNotKeepOutOneThatTakesOverAStoredOne() throws {
    try scene.load(feed())
    try scene.edit(.delete, codes: ["us1"])
    let record = EventRecord("nn1", ids: ",nn1,us1,us2,")
    try scene.load(feed().dropFirst(2) + [record], generated: "2026-01-02T00:00:00Z")
    #expect(try scene.codes().contains("nn1"))
    #expect(
      try scene.connection.ask("select superseded_by from quake.quake where code = 'us2'") == "nn1")
    #expect(try !scene.codes().contains("us1"))
  }

  @Test func deletedEventsTakeTheRowsThatTheySupersededWithThem() throws {
    try scene.load([EventRecord("ci1", ids: ",ci1,"), EventRecord("us2", ids: ",us2,")])
    try scene.load(
      [EventRecord("us1", ids: ",us1,ci1,"), EventRecord("us2", ids: ",us2,")],
      generated: "2026-01-02T00:00:00Z")
    let before = try scene.events()
    #expect(try scene.edit(.delete, codes: ["us1"]).changed == 2)
    #expect(try scene.codes() == ["us2"])
    // Neither id brings the earthquake back.
    try scene.load([EventRecord("ci1", ids: ",ci1,")], generated: "2026-01-03T00:00:00Z")
    try scene.load([EventRecord("us1", ids: ",us1,ci1,")], generated: "2026-01-04T00:00:00Z")
    #expect(try scene.codes() == ["us2"])
    #expect(try scene.restore(codes: ["us1"]).changed == 2)
    #expect(try scene.events() == before)
    // Also those that a person has superseded.
    try scene.connection.run(
      "update quake.quake set superseded_by = 'us2' where code in ('us1', 'ci1')")
    let changed = try scene.events()
    var selection = EventSelection()
    selection.filter.codes = ["us2"]
    let plan = try BatchEdit(
      EventEdit(.delete, of: selection, by: scene.author), over: scene.connection
    ).plan()
    #expect(plan.count == 3)
    #expect(try scene.edit(.delete, codes: ["us2"]).changed == 3)
    #expect(try scene.restore(codes: ["us2"]).changed == 3)
    #expect(try scene.events() == changed)
  }

  @Test func withdrawnAndSupersededEventsAreRestoredOnlyOnRequest() throws {
    try scene.load(feed(4))
    try scene.connection.run(
      "update quake.quake set withdrawn_at = '2026-01-02Z' where code = 'us2'",
      "update quake.quake set superseded_by = 'us1' where code = 'us3'")
    let before = try scene.events()
    try scene.edit(.delete, codes: ["us2", "us3", "us4"])
    #expect(try scene.restore(.events(EventSelection())).changed == 1)
    #expect(try scene.codes() == ["us1", "us4"])
    var all = EventSelection()
    all.includesWithdrawn = true
    #expect(try scene.restore(.events(all)).changed == 1)
    all.includesSuperseded = true
    #expect(try scene.restore(.events(all)).changed == 1)
    #expect(try scene.events() == before)
  }

  @Test func aRestoredEventWhoseSuccessorStaysDeletedIsOneOfItsOwn() throws {
    try scene.load([EventRecord("ci1", ids: ",ci1,"), EventRecord("ci2", ids: ",ci2,")])
    try scene.load(
      [EventRecord("us1", ids: ",ci1,us1,"), EventRecord("us2", ids: ",ci2,us2,")],
      generated: "2026-01-02T00:00:00Z")
    let before = try scene.events()
    func successors() throws -> [String] {
      try scene.connection.table(
        "select code, coalesce(superseded_by, '-') from quake.quake order by code")
    }
    try scene.edit(.delete, codes: ["us1", "us2"])
    #expect(try scene.codes() == [])
    #expect(try scene.restore(codes: ["ci1"]).changed == 1)
    #expect(try successors() == ["ci1|-"])
    // Together with their successors, they are what they were.
    #expect(try scene.restore(codes: ["ci2", "us2"]).changed == 2)
    #expect(try successors() == ["ci1|-", "ci2|us2", "us2|-"])
    #expect(try scene.events().suffix(2) == [before[1], before[3]])
    #expect(try scene.historyAgrees())
  }

  @Test func anEventThatWasTakenForADeletedOneIsStoredWhenASnapshotHasBoth() throws {
    try scene.load([EventRecord("nn1", ids: ",nn1,us1,")])
    try scene.edit(.delete, codes: ["nn1"])
    let separate = [EventRecord("nn1", ids: ",nn1,"), EventRecord("us1", ids: ",us1,")]
    // An older snapshot does not say so.
    try scene.load(separate, generated: "2025-12-31T00:00:00Z")
    #expect(try scene.codes() == [])
    #expect(
      try scene.load(separate, generated: "2026-01-02T00:00:00Z").inserted == 1)
    #expect(try scene.codes() == ["us1"])
    #expect(try scene.connection.table("select id from quake.quake_alias") == [])
    try scene.load([EventRecord("us1", ids: ",us1,")], generated: "2026-01-03T00:00:00Z")
    #expect(
      try scene.connection.table(
        "select code from quake.current_quake union select code from quake.tombstone order by code")
        == ["nn1", "us1"])
  }

  @Test func anImportDoesNotInsertEventsThatAreDeletedMeanwhile() throws {
    try scene.load(feed())
    let other = try scene.database.connect()
    try other.begin()
    try other.run(
      "with gone as (delete from quake.quake where code = 'us4' returning code) "
        + "insert into quake.tombstone (code, reason) select code, 'deleted' from gone")
    let database = scene.database
    let records = feed(place: "revised")
    let importing = BackgroundThread {
      let connection = try database.connect(applicationName: "importer")
      try connection.load(FakeSource(records, generated: "2026-01-02T00:00:00Z"))
    }
    #expect(try scene.connection.waitUntilBlocked(applicationName: "importer"))
    try other.commit()
    try importing.join()
    #expect(
      try scene.connection.ask("select updated from quake.import order by id desc limit 1") == "7")
    #expect(try !scene.codes().contains("us4"))
    #expect(
      try scene.connection.table(
        "select op from quake.quake_version where code = 'us4' order by id")
        == ["insert", "delete"])
  }

  @Test func eventsThatPsqlDeletedComeBackAndAnInsertRemovesATombstone() throws {
    try scene.load(feed())
    try scene.connection.run("delete from quake.quake where code = 'us1'")
    #expect(try scene.tombstones() == [])
    #expect(try scene.load(feed(), generated: "2026-01-02T00:00:00Z").inserted == 1)
    try scene.edit(.delete, codes: ["us1"])
    try scene.connection.run(
      "insert into quake.quake (code, source, time) values ('us1', 'usgs', now())")
    #expect(try scene.tombstones() == [])
    #expect(try scene.load(feed(), generated: "2026-01-03T00:00:00Z").updated == 1)
    // Truncating deletes no tombstone.
    try scene.edit(.delete, codes: ["us2"])
    try scene.connection.run("truncate quake.quake")
    try scene.load(feed(), generated: "2026-01-04T00:00:00Z")
    #expect(try scene.codes() == feed().compactMap { $0.text(.code) }.filter { $0 != "us2" })
  }

  @Test func expiredEventsComeBackOnlyIfAFeedMakesThemYounger() throws {
    func event(_ code: String, daysAgo days: Int64) -> EventRecord {
      var record = EventRecord(code, ids: ",\(code),")
      let now = Timestamp.now().microseconds
      record.set(.time, Timestamp(microseconds: now - days * 86_400_000_000))
      return record
    }
    func feed(_ age: Int64) -> [EventRecord] {
      [event("us1", daysAgo: age), event("us2", daysAgo: age), event("us3", daysAgo: 1)]
    }
    try scene.load(feed(40), generated: "2026-01-01T00:00:00Z")
    let age = Duration.seconds(30 * 86_400)
    #expect(
      try scene.edit(.expire(olderThan: age, forever: false), codes: ["us1", "us3"]).changed == 1)
    #expect(try scene.edit(.expire(olderThan: age, forever: true)).changed == 1)
    #expect(try scene.tombstones() == ["us1|expired|ann", "us2|expired|ann"])
    try scene.load(feed(40), generated: "2026-01-02T00:00:00Z")
    try scene.load(feed(31), generated: "2026-01-03T00:00:00Z")
    #expect(try scene.codes() == ["us3"])
    try scene.load(feed(2), generated: "2026-01-04T00:00:00Z")
    #expect(try scene.codes() == ["us1", "us3"])
    #expect(try scene.tombstones() == ["us2|expired|ann"])
  }
}
