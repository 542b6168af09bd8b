import Postgres
import QuakeModel
import QuakeQuery
import QuakeSchema
import TestSupport
import Testing

@Suite final class EventQueryTests: DatabaseSuite {
  override init() throws {
    try super.init()
    // Many equal values and many nulls, so that every rule of the order matters.
    try connection.run(
      """
      insert into quake.quake (code, time, magnitude, magnitude_type, depth, place, net, source, type,
                               status, alert, felt, tsunami, validated, longitude, latitude, updated, sources)
      select 'e' || n, '2024-01-01Z'::timestamptz + (n * 7919 % 40) * interval '6 h',
             (array[null, -0.5, 0, 1.25, 2.5, 4.5, 7])[n * 31 % 7 + 1],
             (array['ml', 'mb', null])[n % 3 + 1],
             (array[null, -1.5, 0, 10, 35, 600])[n * 13 % 6 + 1],
             (array[null, '6 km SSW of Pāhala, Hawaii', '10 km N of PĀHALA, Hawaii', 'Quito, Ecuador',
                    '100% wrong, "quoted" place', 'under_score, O''Brien', 'Fiji region', ''])[n * 17 % 8 + 1],
             (array['us', 'hv', 'ci', null])[n * 5 % 4 + 1], (array['usgs', 'emsc'])[n % 2 + 1],
             (array['earthquake', 'quarry blast', null])[n * 11 % 3 + 1],
             (array['reviewed', 'REVIEWED', 'automatic', null])[n * 3 % 4 + 1],
             (array['green', 'red', null, null])[n * 23 % 4 + 1],
             (array[null, 0, 3, 200])[n * 29 % 4 + 1], (n % 2)::smallint, n % 3 = 0,
             case when n % 5 > 0 then ((n * 7907) % 3601) / 10.0 - 180 end,
             case when n % 5 > 0 then ((n * 6101) % 1801) / 10.0 - 90 end,
             case when n % 4 > 0 then '2024-02-01Z'::timestamptz + (n % 9) * interval '1 us' end,
             (array[',us,', ',us,hv,', ',ushv,ci,', ',', '', null])[n * 37 % 6 + 1]
        from generate_series(1, 400) n
      """,
      "analyze quake.quake")
  }

  private func all() throws -> [EventRecord] { try EventQuery().page(over: connection).events }

  private func codes(_ events: [EventRecord]) -> [String] { events.map { $0.text(.code) ?? "" } }

  @Test func aTinyCoordinateDoesNotMakeAQueryFail() throws {
    try connection.run(
      """
      insert into quake.quake (code, source, time, magnitude, longitude, latitude) values
        ('t1', 'usgs', now(), 1e-200, 20, 1e-200), ('t2', 'emsc', now(), 2e-200, 5e-324, 1e-300),
        ('t3', 'isc', now(), 5e-324, -5e-324, 90), ('t4', 'ingv', now(), 3e-200, 20, -1e-200)
      """)
    for (latitude, longitude) in [(0, 0), (90, 0), (0, 20), (1e-200, 20), (-90, 1e-300)] {
      for radius in [1, 9000, 15718.4, 30000] {
        var query = EventQuery()
        query.filter.circle = EventFilter.Circle(
          radius: radius, latitude: latitude, longitude: longitude)
        let found = codes(try query.page(over: connection).events)
        #expect(found.sorted() == codes(try all().filter(query.filter.accepts)).sorted())
        #expect(
          try connection.table(
            "select code from quake.within(\(latitude), \(longitude), \(radius)) order by code collate \"C\""
          )
            == found.sorted())
      }
    }
    #expect(
      try connection.ask(
        "select quake.distance(0, 0, 1e-200, 0) + quake.distance(5e-324, 0, 1e-320, 0) = 0") == "t")
    try AssociationTriggers.enable(over: connection)
    let associations = Associations(connection: connection, author: "tests")
    try associations.noteAll()
    try associations.update()
    let earthquake = try #require(try associations.earthquake(of: "t1"))
    let members = [earthquake.preferred] + earthquake.others
    #expect(members.map(\.code).sorted() == ["t1", "t4"])
  }

  // MARK: Filters

  private static func filter(using generator: inout SeededGenerator) -> EventFilter {
    var filter = EventFilter()
    func maybe(_ body: () -> Void) {
      if Int.random(in: 0..<5, using: &generator) == 0 { body() }
    }
    func some(_ texts: String...) -> Set<String> {
      Set(texts.filter { _ in Bool.random(using: &generator) })
    }
    func one<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: 0..<values.count, using: &generator)]
    }
    let magnitudes = [-0.5, 0, 1.25, 3, 7]
    let times = (0...10).map {
      Timestamp(microseconds: 1_704_067_200_000_000 + $0 * 86_400_000_000)
    }
    maybe { filter.minimumMagnitude = one(magnitudes) }
    maybe { filter.maximumMagnitude = one(magnitudes) }
    maybe { filter.minimumDepth = one([-1.5, 0, 20]) }
    maybe { filter.maximumDepth = one([-1.5, 0, 35, 700]) }
    maybe { filter.earliestTime = one(times) }
    maybe { filter.endTime = one(times) }
    maybe {
      filter.places = one([
        ["pāhala"], ["PĀHALA"], ["hawaii", "FIJI"], ["%"], ["_"], ["\""], ["o'b"], ["\\"], ["\0"],
        ["100% w"],
      ])
    }
    maybe { filter.networks = some("us", "hv", "none") }
    maybe { filter.sources = some("usgs", "emsc") }
    maybe { filter.types = some("earthquake", "quarry blast") }
    maybe { filter.alerts = some("green", "red") }
    maybe { filter.statuses = some("Reviewed", "automatic") }
    maybe { filter.minimumFelt = one([0, 3, 4]) }
    maybe { filter.codes = Set((1...50).map { "e\($0 * 7)" }) }
    maybe {
      let south = Double.random(in: -90...90, using: &generator)
      filter.boundingBox = .init(
        west: .random(in: -180...180, using: &generator), south: south,
        east: .random(in: -180...180, using: &generator),
        north: .random(in: south...90, using: &generator))
    }
    maybe {
      filter.circle = .init(
        radius: one([0, 100, 3000, 15_000, 30_000]),
        latitude: .random(in: -90...90, using: &generator),
        longitude: .random(in: -180...180, using: &generator))
    }
    maybe { filter.circle?.innerRadius = one([0, 50, 2000, 14_000]) }
    maybe { filter.conditions = (0..<2).map { _ in condition(using: &generator) } }
    return filter
  }

  private static func condition(
    using generator: inout SeededGenerator, depth: Int = 0
  ) -> EventCondition {
    func several() -> [EventCondition] {
      (0..<Int.random(in: 0...3, using: &generator)).map { _ in
        condition(using: &generator, depth: depth + 1)
      }
    }
    let conditions: [EventCondition] = [
      .atLeast(.magnitude, 1.25), .atMost(.magnitude, 0), .atLeast(.felt, 2.5), .atMost(.felt, 3),
      .atLeast(.tsunami, 1), .notBefore(.updated, Timestamp(microseconds: 1_706_745_600_000_004)),
      .before(.updated, Timestamp(microseconds: 1_706_745_600_000_004)),
      .text(.magnitudeType, isOneOf: ["ML", "mw"]), .text(.status, isOneOf: ["Reviewed"]),
      .lists(.sources, "us"), .lists(.sources, "hv"), .lists(.sources, ""),
      .lists(.sources, "us,hv"), .isPresent(.longitude), .isMissing(.updated),
      .atLeast(.magnitude, .nan), .atMost(.magnitude, .nan),
    ]
    let index = Int.random(in: 0..<(conditions.count + (depth < 2 ? 4 : 0)), using: &generator)
    if index < conditions.count { return conditions[index] }
    return index % 2 == 0 ? .all(several()) : .any(several())
  }

  @Test func aQuerySkipsEventsAndCountsNoFurtherThanNeeded() throws {
    let all = codes(try all())
    var query = EventQuery()
    query.offset = 390
    #expect(codes(try query.page(over: connection).events) == Array(all[390...]))
    query.limit = 4
    let page = try query.page(over: connection)
    #expect(codes(page.events) == Array(all[390..<394]))
    #expect(page.next != nil)
    query.offset = 400
    #expect(try query.page(over: connection).events.isEmpty)
    #expect(try query.count(over: connection) == 400)
    #expect(try query.count(atMost: 17, over: connection) == 17)
    #expect(try query.count(atMost: 500, over: connection) == 400)
    #expect(try query.count(atMost: 0, over: connection) == 0)
  }

  @Test(arguments: Seeds.first(1, of: 1...10))
  func aQuerySelectsWhatTheFilterAccepts(seed: UInt64) throws {
    let events = try all()
    #expect(events.count == 400)
    var generator = SeededGenerator(seed)
    var isMixed = 0
    for _ in 0..<250 {
      var query = EventQuery()
      query.filter = Self.filter(using: &generator)
      let expected = codes(events.filter(query.filter.accepts))
      #expect(codes(try query.page(over: connection).events) == expected, "\(query.filter)")
      #expect(try query.count(over: connection) == Int64(expected.count))
      if !expected.isEmpty, expected.count < 400 { isMixed += 1 }
    }
    #expect(isMixed > 50)
  }

  @Test func aQueryFindsAnAreaByTheCellsOfTheMap() throws {
    try connection.run(
      """
      insert into quake.quake (code, time, longitude, latitude) values
        ('north', '2024-01-01Z', 12, 90), ('south', '2024-01-01Z', -77, -90),
        ('east', '2024-01-01Z', 180, 0), ('west', '2024-01-01Z', -180, 0),
        ('near-east', '2024-01-01Z', 179.5, 0.1), ('near-west', '2024-01-01Z', -179.5, -0.1),
        ('polar', '2024-01-01Z', -100, 89.5), ('corner', '2024-01-01Z', 180, 90)
      """)
    /// The events that the function finds, as the query and the filter must.
    func inside(_ call: String, _ edit: (inout EventFilter) -> Void) throws -> Set<String> {
      let found = Set(try connection.table("select code from quake.\(call)"))
      var query = EventQuery()
      edit(&query.filter)
      #expect(Set(codes(try query.page(over: connection).events)) == found)
      #expect(Set(codes(try all().filter(query.filter.accepts))) == found)
      return found
    }
    func circle(_ radius: Double, _ latitude: Double, _ longitude: Double) throws -> Set<String> {
      let circle = try #require(
        EventFilter.Circle(radius: radius, latitude: latitude, longitude: longitude))
      return try inside("within(\(latitude), \(longitude), \(radius))") { $0.circle = circle }
    }
    func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> Set<String>
    {
      let box = try #require(
        EventFilter.BoundingBox(west: west, south: south, east: east, north: north))
      return try inside("in_box(\(west), \(south), \(east), \(north))") { $0.boundingBox = box }
    }
    #expect(try circle(100, 89.9, 45).isSuperset(of: ["north", "polar", "corner"]))
    #expect(try circle(0.001, -90, 0) == ["south"])
    #expect(try circle(100, 0, 180).isSuperset(of: ["east", "west", "near-east", "near-west"]))
    #expect(try circle(60, 0, -179.9).isSuperset(of: ["east", "west", "near-west"]))
    #expect(try circle(20_100, 10, 10).count == 328)
    #expect(try circle(10_007.5, 0, 0).count > 50)
    #expect(try box(179, -1, -179, 1).isSuperset(of: ["east", "west", "near-east", "near-west"]))
    #expect(try box(179, -1, 180, 1).isSuperset(of: ["east", "near-east"]))
    #expect(try !box(179, -1, 180, 1).contains("west"))
    #expect(try box(-180, -90, 180, 90).count == 328)
    #expect(try box(10.5, -90, 10.2, 90).count > 300)
    #expect(try box(12, 90, 12, 90) == ["north"])
    for (function, sentence) in [
      ("in_box(0, 10, 1, 5)", "south first"), ("in_box(170, 0, 190, 1)", "from -180 to 180"),
      ("within(91, 0, 1)", "latitude from -90 to 90"), ("within(0, 0, -1)", "zero or more"),
      ("within(0, 0, 'NaN')", "zero or more"), ("in_box(0, 'NaN', 1, 5)", "must be latitudes"),
    ] {
      let error = #expect(throws: PostgresError.self) {
        try connection.run("select * from quake.\(function)")
      }
      #expect(error?.message.contains(sentence) == true, "\(function)")
    }
    #expect(try connection.ask("select count(*) from quake.within(null, 0, 10)") == "0")
  }

  @Test func aQueryReadsAnAreaThroughTheIndex() throws {
    try connection.run(
      """
      insert into quake.quake (code, time, longitude, latitude)
      select 'many' || n, '2024-01-01Z', (n * 7907 % 36000) / 100.0 - 180, (n * 6101 % 18000) / 100.0 - 90
        from generate_series(1, 20000) n
      """, "analyze quake.quake")
    for area in ["within(35.7, -117.5, 100)", "in_box(10, 40, 12, 42)", "in_box(179, -2, -179, 0)"]
    {
      let plan = try connection.table("explain select * from quake.\(area)").joined(separator: "\n")
      #expect(plan.contains("quake_cell") && !plan.contains("Function Scan"), "\(plan)")
    }
  }

  // MARK: Order and pages

  /// Whether an event comes before another, by the documented rule, without the database.
  private func isBefore(_ left: EventRecord, _ right: EventRecord, _ orders: [EventOrder]) -> Bool {
    for order in orders {
      let result: Int
      func compare<Value: Comparable>(_ left: Value?, _ right: Value?) -> Int {
        switch (left, right) {
        case (nil, nil): return 0
        case (nil, _): return 1
        case (_, nil): return -1
        case (let left?, let right?):
          let sign = left < right ? -1 : left > right ? 1 : 0
          return order.direction == .descending ? -sign : sign
        }
      }
      switch order.column.kind {
      case .text:
        // The order of the bytes: the test's server has the locale C.
        let (a, b) = (left.text(order.column), right.text(order.column))
        result = compare(a.map { Bytes($0) }, b.map { Bytes($0) })
      case .float8: result = compare(left.double(order.column), right.double(order.column))
      case .int4, .int2: result = compare(left.integer(order.column), right.integer(order.column))
      case .timestamp: result = compare(left.timestamp(order.column), right.timestamp(order.column))
      case .bool:
        result = compare(
          left.bool(order.column).map { $0 ? 1 : 0 }, right.bool(order.column).map { $0 ? 1 : 0 })
      }
      if result != 0 { return result < 0 }
    }
    return false
  }

  private struct Bytes: Comparable {
    let text: String
    init(_ text: String) { self.text = text }
    static func < (left: Bytes, right: Bytes) -> Bool {
      left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
  }

  @Test func pagesOfAQueryMakeUpTheListInItsOrder() throws {
    for order in [
      [], [.newestFirst], [.greatestFirst], [EventOrder(.magnitude)],
      [EventOrder(.depth), .greatestFirst],
      [EventOrder(.place, .descending), EventOrder(.time)],
      [EventOrder(.validated), EventOrder(.felt, .descending)],
      [EventOrder(.updated, .descending)], [EventOrder(.code, .descending), EventOrder(.time)],
      [EventOrder(.magnitudeType), EventOrder(.tsunami, .descending), EventOrder(.net)],
      [EventOrder(.withdrawnAt), EventOrder(.alert)],
    ] as [[EventOrder]] {
      let expected = try all().sorted { isBefore($0, $1, order + [EventOrder(.code)]) }
      var query = EventQuery()
      query.order = order
      #expect(codes(try query.page(over: connection).events) == codes(expected))
      // The columns of the order are read although the query does not name them.
      query.columns = [.sig]
      query.limit = 37
      var list: [String] = []
      var count = 0
      repeat {
        let page = try query.page(over: connection)
        #expect(page.events.count == (page.next == nil ? 400 % 37 : 37))
        list += codes(page.events)
        // The cursor as text is the same cursor.
        query.after = try page.next.map { try #require(EventCursor("\($0)")) }
        #expect(query.after == page.next)
        count += 1
      } while query.after != nil
      #expect(list == codes(expected), "\(order)")
      #expect(count == 11)
    }
  }

  @Test func changesBetweenPagesSkipOrRepeatNoOtherEvent() throws {
    var query = EventQuery()
    query.limit = 100
    let first = try query.page(over: connection)
    let later = Set(codes(try all())).subtracting(codes(first.events))
    try connection.run(
      "delete from quake.quake where code = any ('{\(codes(first.events).joined(separator: ","))}')",
      "insert into quake.quake (code, time) values ('new', now())")
    query.after = first.next
    query.limit = nil
    let rest = codes(try query.page(over: connection).events)
    #expect(Set(rest) == later && rest.count == later.count)
  }

  @Test func aQueryReadsOnlyTheColumnsItNames() throws {
    var query = EventQuery()
    query.columns = [.place, .code]
    let events = try query.page(over: connection).events
    #expect(events.count == 400)
    for event in events { #expect(event.has(.code) && !event.has(.time) && !event.has(.source)) }
    query.columns = []
    #expect(try query.page(over: connection).events.count == 400)
  }

  @Test func aQueryRefusesInvalidCursorsAndThoseOfAnotherOrder() throws {
    for text in [
      "", "x", "MQ", "====", "!", "MQBjb2RlOmFzYwA", String(repeating: "A", count: 1000),
    ] {
      #expect(EventCursor(text) == nil, "\(text)")
    }
    var query = EventQuery()
    query.limit = 1
    let cursor = try #require(try query.page(over: connection).next)
    query.order = [.greatestFirst]
    query.after = cursor
    let error = #expect(throws: StoreError.self) { try query.page(over: connection) }
    #expect(error?.kind == .badData && error?.message.contains("another order") == true)
  }

  @Test func aQueryTakesCodesThatOnlyTheServerHolds() throws {
    try connection.run(
      "update quake.quake set superseded_by = 'e2' where code = 'e1'",
      "insert into quake.quake (code, time) values (E'it''s \"%_\\\\', '2024-01-01Z')")
    var some = ["e1", "e9", "e9", "none", "it's \"%_\\"].makeIterator()
    let found = try connection.transaction(readOnly: true) {
      var query = EventQuery()
      query.codes = try SessionCodes.send(over: connection) { some.next() }
      #expect(query.codes?.count == 5)
      return try query.page(over: connection).events
    }
    #expect(Set(codes(found)) == ["e1", "e9", "it's \"%_\\"])
    // More than one part.
    var number = 0
    let many = try connection.transaction(readOnly: true) {
      var query = EventQuery()
      query.codes = try SessionCodes.send(over: connection) {
        number += 1
        return number > 60_000 ? nil : "e\(60_000 - number)"
      }
      return try query.count(over: connection)
    }
    #expect(many == 400)
    #expect(try connection.ask("select current_setting('quake.codes_1', true)") == "")
  }

  // MARK: Groups

  @Test func aQueryGroupsByPlaceAndRegionAsSwiftNamesThem() throws {
    let places = try connection.table(
      "select distinct place from quake.quake where place is not null")
    for place in places + [
      "13km NW of Aguanga, CA", "5 km NNNW of X", "5 km N of , X", " ,", "1.5 mi E of A,",
    ] {
      let row = try connection.execute(
        "select quake.locality($1), quake.region($1)", [.text(place)])
      #expect(row.text(0, 0) == PlaceName.locality(place), "\(place)")
      #expect(row.text(0, 1) == PlaceName.region(place), "\(place)")
    }
  }

  @Test(arguments: [EventKey.region, .place, .network, .type, .status])
  func aQuerySummarisesGroupsAndSections(key: EventKey) throws {
    func value(_ event: EventRecord) -> String? {
      switch key {
      case .region: event.text(.place).flatMap(PlaceName.region)
      case .place: event.text(.place).flatMap(PlaceName.locality)
      case .network: event.text(.net)
      case .type: event.text(.type)
      default: event.text(.status)
      }
    }
    let expected = Dictionary(grouping: try all(), by: value)
    var groups: [EventGroup] = []
    try EventQuery().groups(by: key, everyType: true, over: connection) { groups.append($0) }
    #expect(groups.count == expected.count)
    #expect(groups.map(\.summary.count) == groups.map(\.summary.count).sorted(by: >))
    for group in groups {
      let name: String? = if case .text(let text) = group.key { text } else { nil }
      let events = try #require(expected[name])
      let magnitudes = events.compactMap { $0.double(.magnitude) }
      #expect(group.summary.count == Int64(events.count))
      #expect(group.summary.known == Int64(magnitudes.count))
      #expect(
        group.summary.minimum == magnitudes.min() && group.summary.maximum == magnitudes.max())
      let average = magnitudes.reduce(0, +) / Double(magnitudes.count)
      #expect(abs((group.summary.average ?? 0) - average) < 1e-12)
    }
    let sections = try EventQuery().sections(by: key, over: connection)
    #expect(sections.reduce(0) { $0 + $1.events.count } == 400)
    for section in sections {
      let name: String? = if case .text(let text) = section.key { text } else { nil }
      #expect(codes(section.events) == codes(try #require(expected[name])))
    }
  }
}
