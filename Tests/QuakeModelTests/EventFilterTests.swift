import QuakeModel
import Testing

@Suite struct EventFilterTests {
  private func quake(
    magnitude: Double? = 5, type: String? = "earthquake", longitude: Double? = 10,
    latitude: Double? = 50
  ) -> EventRecord {
    var record = EventRecord()
    record.set(.code, "us1")
    if let magnitude { record.set(.magnitude, magnitude) }
    if let type { record.set(.type, type) }
    if let longitude { record.set(.longitude, longitude) }
    if let latitude { record.set(.latitude, latitude) }
    return record
  }

  private func change(
    _ op: ChangeOperation, old: EventRecord? = nil, new: EventRecord? = nil,
    changed: [String] = [], author: String? = nil, context: String? = nil,
    application: String? = nil
  ) -> Change {
    let transaction = ChangeTransaction(
      token: .beginning, author: author, context: context, application: application, user: "u",
      processID: 1,
      client: nil, at: Timestamp(microseconds: 0), importID: nil, counts: ChangeCounts(inserted: 1))
    return Change(
      transaction: transaction, position: 0, op: op, code: op == .truncate ? nil : "us1",
      changed: changed, old: old, new: new)
  }

  @Test func aFilterWithoutConditionsPassesEverything() {
    let filter = EventFilter()
    #expect(filter.accepts(EventRecord()))
    #expect(filter.accepts(change(.insert, new: quake())))
    #expect(filter.accepts(change(.delete, old: quake())))
    #expect(filter.accepts(change(.truncate)))
  }

  @Test func aFilterByMagnitudeIncludesTheLimitAndExcludesEventsWithoutOne() {
    var filter = EventFilter()
    filter.minimumMagnitude = 4.5
    #expect(filter.accepts(quake(magnitude: 4.5)))
    #expect(!filter.accepts(quake(magnitude: 4.49)))
    #expect(!filter.accepts(quake(magnitude: nil)))
    filter.minimumMagnitude = -1
    #expect(filter.accepts(quake(magnitude: 0)))
    #expect(!filter.accepts(quake(magnitude: -1.01)))
  }

  @Test func aFilterByTypeTakesTheTypesNamed() {
    var filter = EventFilter()
    filter.types = ["quarry blast", "earthquake"]
    #expect(filter.accepts(quake()))
    #expect(!filter.accepts(quake(type: "explosion")))
    #expect(!filter.accepts(quake(type: nil)))
  }

  @Test func aFilterByBoxIncludesTheEdges() {
    var filter = EventFilter()
    filter.boundingBox = .init(west: -10, south: 40, east: 10, north: 50)
    #expect(filter.accepts(quake(longitude: 10, latitude: 50)))
    #expect(filter.accepts(quake(longitude: -10, latitude: 40)))
    #expect(!filter.accepts(quake(longitude: 10.01, latitude: 45)))
    #expect(!filter.accepts(quake(longitude: 0, latitude: 50.01)))
    #expect(!filter.accepts(quake(longitude: 0, latitude: 39.99)))
    #expect(!filter.accepts(quake(longitude: nil, latitude: nil)))
  }

  @Test func aFilterByBoxCanCrossThe180thMeridian() {
    var filter = EventFilter()
    filter.boundingBox = .init(west: 170, south: -50, east: -170, north: -10)
    for longitude in [170.0, 175, 180, -180, -175, -170] {
      #expect(filter.accepts(quake(longitude: longitude, latitude: -20)), "\(longitude)")
    }
    for longitude in [169.9, 0, -169.9] {
      #expect(!filter.accepts(quake(longitude: longitude, latitude: -20)), "\(longitude)")
    }
    #expect(!filter.accepts(quake(longitude: 180, latitude: 0)))
  }

  @Test func aFilterHasNoBoxWithCoordinatesOutOfRange() {
    #expect(EventFilter.BoundingBox(west: -181, south: 0, east: 0, north: 1) == nil)
    #expect(EventFilter.BoundingBox(west: 0, south: 0, east: 180.1, north: 1) == nil)
    #expect(EventFilter.BoundingBox(west: 0, south: -90.1, east: 1, north: 1) == nil)
    #expect(EventFilter.BoundingBox(west: 0, south: 2, east: 1, north: 1) == nil)
    #expect(EventFilter.BoundingBox(west: .nan, south: 0, east: 1, north: 1) == nil)
    #expect(EventFilter.BoundingBox(west: 0, south: 1, east: 0, north: 1) != nil)
  }

  @Test func aFilterByCircleMeasuresAlongTheGround() {
    var filter = EventFilter()
    // Berlin to Hamburg is 255 km.
    filter.circle = .init(radius: 256, latitude: 52.52, longitude: 13.405)
    #expect(filter.accepts(quake(longitude: 9.9937, latitude: 53.5511)))
    filter.circle = .init(radius: 254, latitude: 52.52, longitude: 13.405)
    #expect(!filter.accepts(quake(longitude: 9.9937, latitude: 53.5511)))
    #expect(!filter.accepts(quake(longitude: nil, latitude: nil)))
  }

  @Test func aFilterByCircleReachesOverThePolesAndThe180thMeridian() {
    var filter = EventFilter()
    // One degree of latitude is 111.2 km.
    filter.circle = .init(radius: 250, latitude: 89, longitude: 0)
    #expect(filter.accepts(quake(longitude: 180, latitude: 89)))
    #expect(filter.accepts(quake(longitude: -90, latitude: 90)))
    #expect(!filter.accepts(quake(longitude: 180, latitude: 88.7)))
    filter.circle = .init(radius: 120, latitude: -90, longitude: 123)
    #expect(filter.accepts(quake(longitude: -77, latitude: -89)))
    #expect(!filter.accepts(quake(longitude: 123, latitude: -88.9)))
    filter.circle = .init(radius: 250, latitude: 0, longitude: 179)
    #expect(filter.accepts(quake(longitude: -179, latitude: 0)))
    #expect(!filter.accepts(quake(longitude: -178.7, latitude: 0)))
  }

  @Test func aFilterByCircleOfRadius0TakesThePointAndByHalfTheWorldEverything() {
    var filter = EventFilter()
    filter.circle = .init(radius: 0, latitude: 50, longitude: 10)
    #expect(filter.accepts(quake()))
    #expect(!filter.accepts(quake(longitude: 10.0001)))
    filter.circle = .init(radius: 20_016, latitude: 50, longitude: 10)
    #expect(filter.accepts(quake(longitude: -170, latitude: -50)))
    #expect(EventFilter.Circle(radius: -1, latitude: 0, longitude: 0) == nil)
    #expect(EventFilter.Circle(radius: .infinity, latitude: 0, longitude: 0) == nil)
    #expect(EventFilter.Circle(radius: 1, latitude: 91, longitude: 0) == nil)
    #expect(EventFilter.Circle(radius: 1, latitude: 0, longitude: 181) == nil)
  }

  @Test func aFilterLetsThroughChangesThatEnterStayInOrLeaveTheSelection() {
    var filter = EventFilter()
    filter.minimumMagnitude = 5
    let small = quake(magnitude: 4.9)
    let large = quake(magnitude: 5)
    #expect(filter.accepts(change(.update, old: small, new: large)))
    #expect(filter.accepts(change(.update, old: large, new: small)))
    #expect(filter.accepts(change(.update, old: large, new: large)))
    #expect(!filter.accepts(change(.update, old: small, new: small)))
    #expect(filter.accepts(change(.insert, new: large)))
    #expect(!filter.accepts(change(.insert, new: small)))
    #expect(filter.accepts(change(.delete, old: large)))
    #expect(!filter.accepts(change(.delete, old: small)))
  }

  @Test func aFilterHasAllItsConditionsMetByOneStateOfTheEvent() {
    var filter = EventFilter()
    filter.minimumMagnitude = 5
    filter.types = ["explosion"]
    // Large before, an explosion after, but never both.
    #expect(
      !filter.accepts(
        change(
          .update, old: quake(magnitude: 6, type: "earthquake"),
          new: quake(magnitude: 4, type: "explosion"))))
  }

  @Test func aFilterLetsATruncateThroughUnlessOperationOrAuthorIsExcluded() {
    var filter = EventFilter()
    filter.minimumMagnitude = 9
    filter.types = ["x"]
    filter.circle = .init(radius: 1, latitude: 0, longitude: 0)
    #expect(filter.accepts(change(.truncate)))
    filter.excludedAuthors = ["me"]
    #expect(!filter.accepts(change(.truncate, author: "me")))
    filter.operations = [.insert, .update, .delete]
    #expect(!filter.accepts(change(.truncate)))
  }

  @Test func aFilterByOperationTakesTheOperationsNamed() {
    var filter = EventFilter()
    filter.operations = [.delete]
    #expect(filter.accepts(change(.delete, old: quake())))
    #expect(!filter.accepts(change(.insert, new: quake())))
    filter.operations = []
    #expect(!filter.accepts(change(.delete, old: quake())))
  }

  @Test func aFilterByAuthorTakesAndLeavesAuthors() {
    var filter = EventFilter()
    filter.authors = ["a", "b"]
    #expect(filter.accepts(change(.insert, new: quake(), author: "a")))
    #expect(!filter.accepts(change(.insert, new: quake(), author: "c")))
    #expect(!filter.accepts(change(.insert, new: quake(), author: nil)))
    filter.authors = nil
    filter.excludedAuthors = ["a"]
    #expect(!filter.accepts(change(.insert, new: quake(), author: "a")))
    #expect(filter.accepts(change(.insert, new: quake(), author: "c")))
    #expect(filter.accepts(change(.insert, new: quake(), author: nil)))
  }

  @Test func aFilterByContextAndApplicationTakesThoseNamed() {
    var filter = EventFilter()
    filter.contexts = ["review", "import"]
    #expect(filter.accepts(change(.insert, new: quake(), context: "review")))
    #expect(!filter.accepts(change(.insert, new: quake(), context: "other")))
    #expect(!filter.accepts(change(.insert, new: quake())))
    filter.applications = ["psql"]
    #expect(!filter.accepts(change(.insert, new: quake(), context: "review")))
    #expect(filter.accepts(change(.truncate, context: "review", application: "psql")))
    #expect(!filter.accepts(change(.truncate, context: "review", application: "loader")))
  }

  @Test func aFilterByCodeTakesTheEventsNamedAndWhatConcernsEveryEvent() {
    var filter = EventFilter()
    filter.codes = ["us1", "us2"]
    #expect(filter.accepts(quake()))
    #expect(filter.accepts(change(.delete, old: quake())))
    #expect(filter.accepts(change(.truncate)))
    filter.codes = ["us2"]
    #expect(!filter.accepts(quake()))
    #expect(!filter.accepts(change(.update, old: quake(), new: quake())))
    #expect(!filter.accepts(EventRecord()))
  }

  @Test func aFilterByChangedColumnsTakesUpdatesOfOneOfThem() {
    var filter = EventFilter()
    filter.changedColumns = ["magnitude", "depth"]
    func update(_ changed: [String]) -> Change {
      change(.update, old: quake(), new: quake(), changed: changed)
    }
    #expect(filter.accepts(update(["place", "depth"])))
    #expect(!filter.accepts(update(["place"])))
    #expect(!filter.accepts(change(.insert, new: quake())))
  }
}
