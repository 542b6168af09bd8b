import QuakeModel
import Testing

/// The conditions of a filter on changes.
@Suite struct ChangeConditionsTests {
  /// An event of some values; nil: none.
  private static func event(
    magnitude: Double? = nil, depth: Double? = nil, at epicentre: (Double, Double)? = nil,
    age: Int64 = 0, withdrawn: Bool = false, superseded: Bool = false
  ) -> EventRecord {
    var record = EventRecord()
    record.set(.code, "a")
    record.set(.time, Timestamp(microseconds: moment.microseconds - age * 1_000_000))
    if let magnitude { record.set(.magnitude, magnitude) }
    if let depth { record.set(.depth, depth) }
    if let epicentre {
      record.set(.latitude, epicentre.0)
      record.set(.longitude, epicentre.1)
    }
    if withdrawn { record.set(.withdrawnAt, moment) }
    if superseded { record.set(.supersededBy, "b") }
    return record
  }

  private static let moment = Timestamp(microseconds: 1_700_000_000_000_000)

  private static func change(_ old: EventRecord?, _ new: EventRecord?) -> Change {
    let op: ChangeOperation =
      old == nil ? (new == nil ? .truncate : .insert) : new == nil ? .delete : .update
    return Change(
      transaction: ChangeTransaction(
        token: .beginning, author: nil, context: nil, application: nil, user: "quake",
        processID: 1, client: nil, at: moment, importID: nil, counts: ChangeCounts()),
      position: 0, op: op, code: "a", changed: [], old: old, new: new)
  }

  @Test func anEventEntersAndLeavesTheSelection() {
    var enters = EventFilter()
    enters.minimumMagnitude = 6
    var leaves = enters
    enters.changeConditions.enters = true
    leaves.changeConditions.leaves = true
    var both = enters
    both.changeConditions.leaves = true
    let (small, large) = (Self.event(magnitude: 5.9), Self.event(magnitude: 6.1))
    let gone = Self.event(magnitude: 6.1, withdrawn: true)
    let other = Self.event(magnitude: 6.1, superseded: true)
    for (old, new, isEntry, isExit) in [
      (nil, large, true, false), (nil, small, false, false), (nil, gone, false, false),
      (small, large, true, false), (large, small, false, true), (large, large, false, false),
      (small, small, false, false), (large, nil, false, true), (small, nil, false, false),
      (large, gone, false, true), (gone, large, true, false), (large, other, false, true),
      (other, large, true, false), (gone, other, false, false), (gone, nil, false, false),
      (nil, nil, false, true), (Self.event(), large, true, false),
    ] as [(EventRecord?, EventRecord?, Bool, Bool)] {
      let change = Self.change(old, new)
      #expect(enters.accepts(change) == isEntry, "\(change)")
      #expect(leaves.accepts(change) == isExit, "\(change)")
      #expect(both.accepts(change) == (isEntry || isExit), "\(change)")
    }
  }

  @Test func aRevisionCountsFromTheLimitOn() {
    var filter = EventFilter()
    filter.changeConditions.magnitudeChange = 0.3
    for (old, new, passes) in [
      (5.9, 6.2, true), (6.2, 5.9, true), (5.9, 6.1, false), (5.0, 5.0, false), (nil, 5.0, true),
      (5.0, nil, true), (nil, nil, false),
    ] as [(Double?, Double?, Bool)] {
      let change = Self.change(Self.event(magnitude: old), Self.event(magnitude: new))
      #expect(filter.accepts(change) == passes, "\(change)")
    }
    // These change no magnitude.
    #expect(!filter.accepts(Self.change(nil, Self.event(magnitude: 5))))
    #expect(!filter.accepts(Self.change(Self.event(magnitude: 5), nil)))
    #expect(!filter.accepts(Self.change(nil, nil)))

    filter.changeConditions.magnitudeChange = nil
    filter.changeConditions.depthChange = 10
    #expect(filter.accepts(Self.change(Self.event(depth: 5), Self.event(depth: 15))))
    #expect(!filter.accepts(Self.change(Self.event(depth: 5), Self.event(depth: 14.9))))
    #expect(filter.accepts(Self.change(Self.event(), Self.event(depth: 5))))

    filter.changeConditions.depthChange = nil
    filter.changeConditions.placeChange = 20
    func move(_ old: (Double, Double)?, _ new: (Double, Double)?) -> Bool {
      filter.accepts(Self.change(Self.event(at: old), Self.event(at: new)))
    }
    // One degree along a meridian is 111 km; the 180th meridian is no border.
    #expect(move((0, 179.9), (0, -179.9)) && !move((0, 179.95), (0, -179.95)))
    #expect(move((10, 10), (10.19, 10)) && !move((10, 10), (10.17, 10)))
    #expect(!move((90, 0), (90, 120)), "all meridians meet at a pole")
    #expect(move(nil, (1, 2)) && move((1, 2), nil) && !move(nil, nil))
  }

  /// An alert wants to know of new large events, and of large revisions.
  @Test func oneOfSeveralIsEnough() {
    var filter = EventFilter()
    filter.minimumMagnitude = 6
    filter.changeConditions.enters = true
    filter.changeConditions.magnitudeChange = 0.3
    let values = [5.5, 5.9, 6.1, 6.3, 6.5]
    let passing = values.flatMap { old in
      values.filter {
        filter.accepts(Self.change(Self.event(magnitude: old), Self.event(magnitude: $0)))
      }.map { "\(old) \($0)" }
    }
    #expect(
      passing == [
        "5.5 6.1", "5.5 6.3", "5.5 6.5", "5.9 6.1", "5.9 6.3", "5.9 6.5", "6.1 5.5", "6.1 6.5",
        "6.3 5.5", "6.3 5.9", "6.5 5.5", "6.5 5.9", "6.5 6.1",
      ])
    #expect(filter.accepts(Self.change(nil, Self.event(magnitude: 6))))
  }

  @Test func theAgeCountsFromTheTimeOfTheChange() {
    var filter = EventFilter()
    filter.newerThan = .seconds(3600)
    #expect(filter.accepts(Self.change(nil, Self.event(age: 3600))))
    #expect(!filter.accepts(Self.change(nil, Self.event(age: 3601))))
    #expect(filter.accepts(Self.change(nil, Self.event(age: -60))), "clocks differ")
    #expect(filter.accepts(Self.change(Self.event(age: 10), nil)))
    #expect(!filter.accepts(Self.event(age: 10), at: .now()))
    #expect(filter.accepts(Self.event(age: 7200)), "a list does not age")
    // An old event that becomes large is no entry.
    filter.minimumMagnitude = 6
    filter.changeConditions.enters = true
    let (small, large) = (Self.event(magnitude: 5, age: 7200), Self.event(magnitude: 7, age: 7200))
    #expect(!filter.accepts(Self.change(small, large)))
    filter.newerThan = .seconds(Int64.max)
    #expect(filter.accepts(Self.change(small, large)))
  }
}
