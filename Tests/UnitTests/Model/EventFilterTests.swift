import QuakeModel
import Testing

/// The conditions of a filter on events, and on changes as far as they follow from those.
@Suite struct EventFilterTests {
  private var event: EventRecord {
    var event = EventRecord()
    event.set(.code, "us1")
    event.set(.magnitude, 4.5)
    event.set(.depth, -1.5)
    event.set(.time, Timestamp(microseconds: 1_000_000))
    event.set(.place, "6 km SSW of Pāhala, Hawaii")
    event.set(.net, "hv")
    event.set(.source, "usgs")
    event.set(.alert, "green")
    event.set(.felt, integer: 12)
    event.set(.status, "REVIEWED")
    event.set(.type, "earthquake")
    event.set(.longitude, 10)
    event.set(.latitude, 50)
    return event
  }

  private func event(_ longitude: Double, _ latitude: Double) -> EventRecord {
    var event = event
    event.set(.longitude, longitude)
    event.set(.latitude, latitude)
    return event
  }

  private func event(magnitude: Double) -> EventRecord {
    var event = event
    event.set(.magnitude, magnitude)
    return event
  }

  private func change(
    _ op: ChangeOperation, old: EventRecord? = nil, new: EventRecord? = nil,
    changed: [String] = [], author: String? = nil, context: String? = nil,
    application: String? = nil
  ) -> Change {
    let transaction = ChangeTransaction(
      token: .beginning, author: author, context: context, application: application, user: "u",
      processID: 1, client: nil, at: Timestamp(microseconds: 0), importID: nil,
      counts: ChangeCounts(inserted: 1))
    return Change(
      transaction: transaction, position: 0, op: op, code: op == .truncate ? nil : "us1",
      changed: changed, old: old, new: new)
  }

  private func passes(
    _ event: EventRecord? = nil, _ edit: (inout EventFilter) -> Void
  ) -> Bool {
    var filter = EventFilter()
    edit(&filter)
    return filter.accepts(event ?? self.event)
  }

  private func passes(_ change: Change, _ edit: (inout EventFilter) -> Void) -> Bool {
    var filter = EventFilter()
    edit(&filter)
    return filter.accepts(change)
  }

  @Test func aFilterWithoutConditionsPassesEverything() {
    let filter = EventFilter()
    #expect(filter.accepts(EventRecord()))
    #expect(filter.accepts(change(.insert, new: event)))
    #expect(filter.accepts(change(.delete, old: event)))
    #expect(filter.accepts(change(.truncate)))
  }

  @Test func textsThatLookAlikeAreNotTheSame() {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    var event = event
    event.set(.code, composed)
    event.set(.net, composed)
    event.set(.status, composed)
    event.set(.type, composed)
    for (text, isSame) in [(composed, true), (decomposed, false)] {
      #expect(passes(event) { $0.codes = [text] } == isSame)
      #expect(passes(event) { $0.networks = [text] } == isSame)
      #expect(passes(event) { $0.statuses = [text] } == isSame)
      #expect(passes(event) { $0.types = [text] } == isSame)
      #expect(passes(event) { $0.conditions = [.text(.net, isOneOf: [text])] } == isSame)
      let change = change(.insert, new: event, author: composed, context: composed)
      #expect(passes(change) { $0.authors = [text] } == isSame)
      #expect(passes(change) { $0.contexts = [text] } == isSame)
      #expect(passes(change) { $0.excludedAuthors = [text] } != isSame)
    }
  }

  @Test func aConditionIncludesTheLimitsExceptTheEndOfTheTime() {
    #expect(passes { $0.minimumMagnitude = 4.5 } && !passes { $0.minimumMagnitude = 4.51 })
    #expect(passes { $0.maximumMagnitude = 4.5 } && !passes { $0.maximumMagnitude = 4.49 })
    #expect(passes { $0.minimumDepth = -1.5 } && !passes { $0.minimumDepth = 0 })
    #expect(passes { $0.maximumDepth = -1.5 } && !passes { $0.maximumDepth = -2 })
    #expect(passes { $0.minimumFelt = 12 } && !passes { $0.minimumFelt = 13 })
    #expect(passes { $0.earliestTime = Timestamp(microseconds: 1_000_000) })
    #expect(!passes { $0.earliestTime = Timestamp(microseconds: 1_000_001) })
    #expect(passes { $0.endTime = Timestamp(microseconds: 1_000_001) })
    #expect(!passes { $0.endTime = Timestamp(microseconds: 1_000_000) })
  }

  @Test func aConditionFindsPartOfAPlaceInAnyCaseAndWildcardsOnlyAsThemselves() {
    for text in ["hawaii", "PĀHALA", "pāhala, h", "6 KM ssw"] {
      #expect(passes { $0.places = [text] }, "\(text)")
    }
    for text in ["pahala", "%", "_", "Hawaii ", "P.hala", "\\"] {
      #expect(!passes { $0.places = [text] }, "\(text)")
    }
    #expect(passes { $0.places = ["Chile", "of P"] })
  }

  @Test func aConditionTakesTheTextsNamedTheStatusInAnyCase() {
    #expect(passes { $0.networks = ["hv"] } && !passes { $0.networks = ["HV"] })
    #expect(passes { $0.sources = ["usgs", "emsc"] } && !passes { $0.sources = ["emsc"] })
    #expect(passes { $0.alerts = ["green"] } && !passes { $0.alerts = ["red"] })
    #expect(passes { $0.statuses = ["reviewed"] } && !passes { $0.statuses = ["automatic"] })
    #expect(passes { $0.types = ["quarry blast", "earthquake"] })
    #expect(!passes { $0.types = ["explosion"] })
    #expect(passes { $0.codes = ["us1", "us2"] } && !passes { $0.codes = ["us2"] })
  }

  @Test func aConditionDoesNotHoldForAnEventWithoutTheValue() {
    let none = EventRecord()
    let filters: [(inout EventFilter) -> Void] = [
      { $0.minimumMagnitude = -1 }, { $0.maximumMagnitude = 9 }, { $0.minimumDepth = -10 },
      { $0.maximumDepth = 700 }, { $0.minimumFelt = 0 }, { $0.places = ["a"] },
      { $0.networks = ["us"] }, { $0.sources = ["usgs"] }, { $0.alerts = ["green"] },
      { $0.statuses = ["reviewed"] }, { $0.earliestTime = .earliest }, { $0.endTime = .latest },
      { $0.types = ["earthquake"] }, { $0.codes = ["us1"] },
      { $0.boundingBox = .init(west: -180, south: -90, east: 180, north: 90) },
      { $0.circle = .init(radius: 20_016, latitude: 0, longitude: 0) },
    ]
    for filter in filters { #expect(!passes(none, filter)) }
  }

  @Test func aConditionFoldsLettersOneToOne() {
    let capitals = Array(LetterCase.capitals.unicodeScalars)
    let small = Array(LetterCase.smallLetters.unicodeScalars)
    #expect(capitals.count == small.count && capitals.count > 250)
    for (capital, letter) in zip(capitals, small) {
      #expect(capital.value >= 0x80 && letter.value >= 0x80)
      #expect("\(capital)".lowercased() == "\(letter)", "\(capital)")
    }
  }

  @Test func aBoxIncludesItsEdgesAndCanCrossThe180thMeridian() {
    var filter = EventFilter()
    filter.boundingBox = .init(west: -10, south: 40, east: 10, north: 50)
    for (longitude, latitude, isInside) in [
      (10, 50, true), (-10, 40, true), (10.01, 45, false), (0, 50.01, false), (0, 39.99, false),
    ] {
      #expect(filter.accepts(event(longitude, latitude)) == isInside)
    }
    filter.boundingBox = .init(west: 170, south: -50, east: -170, north: -10)
    for (longitude, isInside) in [
      (170.0, true), (180, true), (-180, true), (-170, true), (169.9, false), (0, false),
      (-169.9, false),
    ] {
      #expect(filter.accepts(event(longitude, -20)) == isInside, "\(longitude)")
    }
    for (west, south, east, north) in [
      (-181.0, 0.0, 0.0, 1.0), (0, 0, 180.1, 1), (0, -90.1, 1, 1), (0, 2, 1, 1), (.nan, 0, 0, 1),
    ] {
      #expect(EventFilter.BoundingBox(west: west, south: south, east: east, north: north) == nil)
    }
  }

  @Test func aCircleMeasuresAlongTheGroundOverPolesAndThe180thMeridian() {
    for (radius, centre, point, isInside) in [
      // Berlin to Hamburg is 255 km.
      (256, (52.52, 13.405), (53.5511, 9.9937), true),
      (254, (52.52, 13.405), (53.5511, 9.9937), false),
      // One degree of latitude is 111.2 km.
      (250, (89, 0), (89, 180), true), (250, (89, 0), (90, -90), true),
      (250, (89, 0), (88.7, 180), false), (120, (-90, 123), (-89, -77), true),
      (120, (-90, 123), (-88.9, 123), false), (250, (0, 179), (0, -179), true),
      (250, (0, 179), (0, -178.7), false), (0, (50, 10), (50, 10), true),
      (0, (50, 10), (50, 10.0001), false), (20_016, (50, 10), (-50, -170), true),
    ] as [(Double, (Double, Double), (Double, Double), Bool)] {
      let isAccepted = passes(event(point.1, point.0)) {
        $0.circle = .init(radius: radius, latitude: centre.0, longitude: centre.1)
      }
      #expect(isAccepted == isInside, "\(radius) km from \(centre): \(point)")
    }
    for (radius, latitude, longitude) in [
      (-1.0, 0.0, 0.0), (.infinity, 0, 0), (1, 91, 0), (1, 0, 181),
    ] {
      #expect(
        EventFilter.Circle(radius: radius, latitude: latitude, longitude: longitude) == nil)
    }
  }

  @Test func aFilterLetsThroughChangesThatEnterStayInOrLeaveTheSelection() {
    var filter = EventFilter()
    filter.minimumMagnitude = 5
    let (small, large) = (event(magnitude: 4.9), event(magnitude: 5))
    #expect(filter.accepts(change(.update, old: small, new: large)))
    #expect(filter.accepts(change(.update, old: large, new: small)))
    #expect(filter.accepts(change(.update, old: large, new: large)))
    #expect(!filter.accepts(change(.update, old: small, new: small)))
    #expect(filter.accepts(change(.insert, new: large)))
    #expect(!filter.accepts(change(.insert, new: small)))
    #expect(filter.accepts(change(.delete, old: large)))
    #expect(!filter.accepts(change(.delete, old: small)))
    // Large before, an explosion after, but never both.
    filter.types = ["explosion"]
    var explosion = small
    explosion.set(.type, "explosion")
    #expect(!filter.accepts(change(.update, old: large, new: explosion)))
  }

  @Test func aTruncatePassesUnlessItsOperationOrAuthorIsExcluded() {
    var filter = EventFilter()
    filter.minimumMagnitude = 9
    filter.codes = ["us2"]
    filter.circle = .init(radius: 1, latitude: 0, longitude: 0)
    #expect(filter.accepts(change(.truncate)))
    filter.excludedAuthors = ["me"]
    #expect(!filter.accepts(change(.truncate, author: "me")))
    filter.operations = [.insert, .update, .delete]
    #expect(!filter.accepts(change(.truncate)))
  }

  @Test func aFilterTakesTheOperationsAuthorsContextsAndColumnsNamed() {
    let insert = change(.insert, new: event, author: "a", context: "review", application: "psql")
    let plain = change(.insert, new: event)
    #expect(passes(insert) { $0.operations = [.insert] })
    #expect(!passes(insert) { $0.operations = [] })
    for (edit, takesInsert, takesPlain) in [
      ({ $0.authors = ["a", "b"] }, true, false), ({ $0.excludedAuthors = ["a"] }, false, true),
      ({ $0.contexts = ["review"] }, true, false), ({ $0.applications = ["psql"] }, true, false),
      ({ $0.applications = ["loader"] }, false, false),
    ] as [((inout EventFilter) -> Void, Bool, Bool)] {
      #expect(passes(insert, edit) == takesInsert)
      #expect(passes(plain, edit) == takesPlain)
    }
    let columns = { (filter: inout EventFilter) in
      filter.changedColumns = ["magnitude", "depth"]
    }
    let update = change(.update, old: event, new: event, changed: ["place", "depth"])
    #expect(passes(update, columns) && !passes(insert, columns))
    #expect(!passes(change(.update, old: event, new: event, changed: ["place"]), columns))
  }
}
