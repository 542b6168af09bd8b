import Postgres
import QuakeHistory
import QuakeImport
import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@Suite struct AssociationTests {
  private typealias Report = AssociationWorld.Report
  private let world: AssociationWorld

  init() throws {
    world = try AssociationWorld()
  }

  private func load(_ reports: Report...) throws {
    try world.store(reports)
    try world.associations.update()
  }

  private func run(_ statement: String) throws {
    try world.connection.run(statement)
    try world.associations.update()
  }

  private static func usgs(_ code: String = "us1", _ seconds: Double = 0) -> Report {
    Report(code: code, source: "usgs", seconds: seconds, latitude: 10, longitude: 20)
  }

  private static func emsc(
    _ code: String = "emsc1", _ seconds: Double = 2, latitude: Double = 10.1, magnitude: Double = 4
  ) -> Report {
    Report(
      code: code, source: "emsc", seconds: seconds, latitude: latitude, longitude: 20,
      magnitude: magnitude)
  }

  @Test func anAssociationNeedsANearTimePlaceAndMagnitude() throws {
    try load(
      Self.usgs(), Self.emsc("late", 16.5), Self.emsc("far", 2, latitude: 11),
      Self.emsc("weak", 2, magnitude: 2.4))
    #expect(try world.earthquakes() == [])
    try load(Self.emsc("near", 15.9, latitude: 10.89, magnitude: 2.6))
    #expect(try world.earthquakes() == ["us1 near"])
    // A nearer one takes its place.
    try load(Self.emsc())
    #expect(try world.earthquakes() == ["us1 emsc1"])
    #expect(try world.connection.table("select quake.others('us1')") == ["{emsc1}"])
    #expect(
      try world.connection.table("select code from quake.solutions('emsc1')") == ["us1", "emsc1"])
    // Deep and automatic solutions may be farther off.
    var deep = Self.usgs("us2", 1000)
    deep.depth = 300
    try load(deep, Self.emsc("emsc2", 1023, latitude: 11.2))
    #expect(try world.earthquakes() == ["us1 emsc1", "us2 emsc2"])
  }

  @Test func aPersonMaySupersedeTheEventThatAnAssociationPrefers() throws {
    try load(Self.usgs(), Self.emsc())
    #expect(try world.earthquakes() == ["us1 emsc1"])
    var selection = EventSelection()
    selection.filter.codes = ["us1"]
    let edit = EventEdit(
      .set([try EventAssignment(.supersededBy, text: "emsc1")]), of: selection,
      by: EditAuthor(program: "tests", author: "tests", context: "tests"))
    #expect(try BatchEdit(edit, over: world.connection).run().changed == 1)
    try world.associations.update()
    #expect(
      try world.connection.table("select code from quake.quake where superseded_by is null")
        == ["emsc1"])
  }

  @Test func windowsIncludeTheirEdgesAndStatusesMayBeInCapitals() throws {
    for (number, magnitude) in [3.4, 3.5, 3.6].enumerated() {
      let seconds = Double(number) * 1000
      var usgs = Self.usgs("us\(number)", seconds)
      usgs.magnitude = magnitude
      try load(usgs, Self.emsc("emsc\(number)", seconds, magnitude: magnitude + 1.5))
    }
    var automatic = Self.usgs("us9", 9000)
    automatic.status = "AUTOMATIC"
    try load(automatic, Self.emsc("emsc9", 9020))
    #expect(
      try world.earthquakes() == ["us0 emsc0", "us1 emsc1", "us2 emsc2", "us9 emsc9"])
  }

  @Test func anAssociationNeverJoinsTwoEventsOfOneSource() throws {
    try load(Self.usgs(), Self.usgs("us2", 1), Self.usgs("us3", 2))
    #expect(try world.earthquakes() == [])
    #expect(throws: StoreError.self) { try world.associations.join("us1", "us2") }
    #expect(try world.connection.ask("select count(*) from quake.association_pin") == "0")
  }

  @Test func associationsFollowRevisionsWithdrawalsDeletionsAndReturns() throws {
    let third = Report(code: "nz1", source: "geonet", seconds: 1, latitude: 10, longitude: 20)
    try load(Self.usgs(), Self.emsc(), third)
    #expect(try world.earthquakes() == ["us1 emsc1 nz1"])
    #expect(try world.shown() == ["us1"])
    try load(Self.usgs("us1", 5000))
    #expect(try world.earthquakes() == ["emsc1 nz1"])
    try load(Self.usgs())
    #expect(try world.earthquakes() == ["us1 emsc1 nz1"])
    try run("update quake.quake set withdrawn_at = now() where code = 'us1'")
    #expect(try world.shown() == ["emsc1"])
    try run("update quake.quake set withdrawn_at = null where code = 'us1'")
    #expect(try world.shown() == ["us1"])
    // A withdrawn solution that was not shown leaves as well.
    try run("update quake.quake set withdrawn_at = now() where code = 'emsc1'")
    #expect(try world.earthquakes() == ["us1 nz1"])
    #expect(
      try world.connection.ask("select superseded_by from quake.quake where code = 'emsc1'") == nil)
    try run("update quake.quake set withdrawn_at = null where code = 'emsc1'")
    try run("delete from quake.quake where code = 'us1'")
    #expect(try world.earthquakes() == ["emsc1 nz1"])
    try load(Self.usgs())
    #expect(try world.earthquakes() == ["us1 emsc1 nz1"])
    #expect(try world.faults() == [])
    try run("truncate quake.quake")
    #expect(try world.earthquakes() == [])
  }

  @Test func theHistoryShowsWhichEventIsTheSolution() throws {
    try load(Self.usgs(), Self.emsc())
    try run("delete from quake.quake where code = 'us1'")
    let changes = try world.connection.table(
      """
      select c.op, c.changed, (c.old).superseded_by, (c.new).superseded_by, c.author, c.context
        from quake.changes_since('0') c where c.code = 'emsc1' order by c.position, c.token
      """)
    #expect(
      changes.sorted() == [
        "insert|{}||||", "update|{superseded_by}|us1||tests|association",
        "update|{superseded_by}||us1|tests|association",
      ])
  }

  @Test func associationsObeyPersonsUntilTheyChangeTheirMinds() throws {
    try load(Self.usgs(), Self.emsc(), Self.emsc("emsc2", 3000))
    try world.associations.split("us1", "emsc1")
    #expect(try world.shown() == ["emsc1", "emsc2", "us1"])
    try load(Self.usgs("us1", 1))
    #expect(try world.earthquakes() == [])
    try world.associations.join("emsc2", "us1")
    #expect(try world.earthquakes() == ["us1 emsc2"])
    try load(Self.usgs("us1", 2))
    try world.associations.noteAll()
    try world.associations.update()
    #expect(try world.earthquakes() == ["us1 emsc2"])
    // An earthquake has one event of a source.
    #expect(throws: StoreError.self) { try world.associations.join("emsc1", "us1") }
    #expect(try world.earthquakes() == ["us1 emsc2"])
    #expect(try world.associations.forget("us1", "emsc2"))
    #expect(try world.associations.forget("us1", "emsc2") == false)
    #expect(try world.earthquakes() == [])
    #expect(try world.associations.forget("emsc1", "us1"))
    #expect(try world.earthquakes() == ["us1 emsc1"])
    #expect(try world.associations.dissolve("emsc1") == ["emsc1", "us1"])
    #expect(try world.earthquakes() == [])
    #expect(try world.associations.dissolve("emsc1") == [])
    // Decisions outlive the associations.
    try world.disable()
    try world.enable()
    #expect(try world.earthquakes() == [])
    try run("update quake.quake set superseded_by = 'us1' where code = 'emsc2'")
    #expect(throws: StoreError.self) { try world.associations.join("emsc2", "us1") }
    #expect(throws: StoreError.self) { try world.associations.join("none", "us1") }
    #expect(throws: StoreError.self) { try world.associations.join("us1", "us1") }
  }

  @Test func decisionsOfPersonsFollowAChangeOfThePreferredID() throws {
    func apply(_ code: String, hour: Int) throws {
      var record = EventRecord(code, magnitude: 4, ids: hour == 1 ? ",us1," : ",us1,us2,")
      record.set(.longitude, 20.0)
      record.set(.latitude, 10.0)
      try world.connection.load(FakeSource([record], generated: "2026-01-02T0\(hour):00:00Z"))
      try world.associations.update()
    }
    func decisions() throws -> [String] {
      try world.connection.table(
        "select code, other, together from quake.association_pin order by code")
    }
    // At the time of the records.
    try load(Self.emsc("emsc1", -67_225_598))
    try apply("us1", hour: 1)
    #expect(try world.earthquakes() == ["us1 emsc1"])
    try world.associations.split("us1", "emsc1")
    #expect(try world.earthquakes() == [])
    try apply("us2", hour: 2)
    #expect(try world.shown() == ["emsc1", "us2"])
    try world.associations.noteAll()
    try world.associations.update()
    #expect(try world.earthquakes() == [])
    // A decision replaces the one about the same event under another id.
    try world.associations.join("us1", "emsc1")
    #expect(try decisions() == ["emsc1|us2|t"])
    #expect(try world.earthquakes() == ["us2 emsc1"])
    try apply("us1", hour: 3)
    #expect(try world.earthquakes() == ["us1 emsc1"])
    #expect(try world.associations.earthquake(of: "us2")?.others.map(\.isByHand) == [true])
    #expect(try world.associations.forget("us2", "emsc1"))
    #expect(try decisions() == [])
    #expect(try world.faults() == [])
  }

  @Test func aSourceIsPreferredByRegionAndOrder() throws {
    try load(
      Self.usgs(), Self.emsc(),
      Report(code: "nz1", source: "geonet", seconds: 1, latitude: 10, longitude: 20))
    func prefer(_ sources: [String], _ box: EventFilter.BoundingBox? = nil) throws -> String? {
      try SourcePreference.set(sources, in: box, over: world.connection)
      try world.associations.noteAll()
      try world.associations.update()
      return try world.shown().first
    }
    let wide = try #require(EventFilter.BoundingBox(west: 0, south: 0, east: 90, north: 45))
    let small = try #require(EventFilter.BoundingBox(west: 170, south: 5, east: 21, north: 15))
    #expect(try prefer(["nowhere", "geonet"]) == "nz1")
    #expect(try prefer(["emsc"], wide) == "emsc1")
    // Other sources come in the general order.
    #expect(try prefer(["nowhere"], wide) == "nz1")
    // Across the 180th meridian.
    #expect(try prefer(["emsc"], small) == "emsc1")
    let elsewhere = try #require(EventFilter.BoundingBox(west: 30, south: 5, east: 31, north: 15))
    #expect(try prefer(["geonet"], elsewhere) == "emsc1")
    let smaller = try #require(EventFilter.BoundingBox(west: 19, south: 5, east: 21, north: 15))
    #expect(try prefer(["usgs"], smaller) == "us1")
    #expect(try SourcePreference.remove(smaller, over: world.connection))
    #expect(try SourcePreference.remove(smaller, over: world.connection) == false)
    #expect(try world.faults() == [])
  }

  @Test func associationsFollowAnIDSwitchOfASourceAndItsReturn() throws {
    try SourcePreference.set(["emsc"], in: nil, over: world.connection)
    func record(_ code: String, ids: String) -> EventRecord {
      var record = EventRecord(code, magnitude: 4, ids: ids)
      record.set(.time, Timestamp(microseconds: 1_767_225_600_000_000))
      record.set(.latitude, 10)
      record.set(.longitude, 20)
      return record
    }
    func load(_ record: EventRecord, _ generated: String) throws {
      try world.connection.load(FakeSource([record], generated: generated))
    }
    try world.store([Self.emsc()])
    try load(record("us1", ids: ",us1,"), "2026-01-01T00:01:00Z")
    #expect(try world.earthquakes() == ["emsc1 us1"])
    try load(record("us2", ids: ",us1,us2,"), "2026-01-01T00:02:00Z")
    #expect(try world.earthquakes() == ["emsc1 us2"])
    #expect(
      try world.connection.ask("select superseded_by from quake.quake where code = 'us1'") == "us2")
    #expect(try world.connection.table("select code from quake.find('us1')") == ["emsc1"])
    try load(record("us1", ids: ",us1,us2,"), "2026-01-01T00:03:00Z")
    #expect(try world.earthquakes() == ["emsc1 us1"])
    #expect(try world.faults() == [])
  }

  @Test func anEventThatIsNotShownCanStillBeWithdrawnAndReturn() throws {
    try SourcePreference.set(["emsc"], in: nil, over: world.connection)
    let noon: Int64 = 1_767_225_600_000_000
    func record(_ number: Int) -> EventRecord {
      var record = EventRecord("us\(number)", magnitude: 4)
      record.set(.time, Timestamp(microseconds: noon - Int64(number) * 600_000_000))
      record.set(.latitude, 10)
      record.set(.longitude, 20)
      return record
    }
    func load(_ numbers: ClosedRange<Int>, minutes: Int64) throws -> ImportReport {
      let generated = Timestamp(microseconds: noon + minutes * 60_000_000).description
      return try world.connection.load(FakeSource(numbers.map(record), generated: generated)) {
        $0.feed = "all_day"
        $0.limits = SnapshotLimits()
        $0.scope = FeedScope(name: "all_day", source: "usgs", window: 86_400)
      }
    }
    try world.store([Self.emsc("emsc1", -20 * 600 + 2)])
    _ = try load(1...20, minutes: 1)
    #expect(try world.earthquakes() == ["emsc1 us20"])
    var minutes: Int64 = 1
    var withdrawn: Int64 = 0
    while withdrawn == 0, minutes < 60 {
      minutes += 1
      withdrawn += try load(1...19, minutes: minutes).withdrawn
    }
    #expect(withdrawn == 1)
    #expect(try world.earthquakes() == [])
    #expect(
      try world.connection.table(
        "select code, superseded_by from quake.quake where withdrawn_at is not null") == ["us20|"])
    #expect(try load(1...20, minutes: minutes + 1).restored == 1)
    #expect(try world.earthquakes() == ["emsc1 us20"])
    #expect(try world.faults() == [])
  }

  @Test func theOtherSolutionStaysWhenAnEditDeletesThePreferredOne() throws {
    try load(Self.usgs(), Self.emsc())
    var selection = EventSelection()
    selection.filter.codes = ["us1"]
    let author = EditAuthor(program: "tests", author: "ann")
    let outcome = try BatchEdit(
      EventEdit(.delete, of: selection, by: author), over: world.connection
    )
    .run()
    #expect(outcome.changed == 1)
    #expect(try world.shown() == ["emsc1"])
    #expect(try world.earthquakes() == [])
  }

  @Test func associationsWaitForNoLockedRowAndAreMadeUpForLater() throws {
    let other = try world.database.connect()
    try world.store([Self.usgs(), Self.emsc()])
    try other.begin()
    try other.run("select from quake.quake where code = 'emsc1' for update")
    #expect(throws: StoreError.self) { try world.associations.update() }
    try world.associations.updateAfterChange()
    #expect(try world.earthquakes() == [])
    try other.rollback()
    try world.associations.update()
    #expect(try world.earthquakes() == ["us1 emsc1"])
  }

  @Test func listsNameTheAssociatedEvents() throws {
    try load(Self.usgs(), Self.emsc(), Self.emsc("emsc2", 3000))
    var list: [String] = []
    try EventQuery().readWithOthers(over: world.connection) { event, others in
      list.append("\(event.text(.code) ?? "") \(others)")
    }
    #expect(list == ["emsc2 []", "us1 [\"emsc1\"]"])
    #expect(try EventQuery().count(over: world.connection) == 2)
    let history = EventHistory(connection: world.connection)
    let event = try #require(try history.event("emsc1"))
    #expect(event.text(.code) == "us1")
    #expect(try history.others(of: event) == ["emsc1"])
  }
}
