import QuakeModel
import Testing

@testable import QuakeConsumers

@Suite struct ConversationTests {
  private func world(_ change: (inout AlertRule) -> Void = { _ in }) -> ConversationWorld {
    ConversationWorld {
      $0.tellsClosed = true
      change(&$0)
    }
  }

  @Test func anEarthquakeIsOpenedOnceThenUpdatedAndClosed() throws {
    let world = world()
    world.put(.event("us1", 4.4))
    #expect(try world.commit().isEmpty)
    world.edit("us1") { $0.magnitude = 4.6 }
    #expect(try world.commit().lines == ["2.0000beef-0-1 opened us1 4.6"])
    // Less than the step from what was told, then in sum as much as the step.
    for magnitude in [4.7, 4.8] {
      world.edit("us1") { $0.magnitude = magnitude }
      #expect(try world.commit().isEmpty)
    }
    world.edit("us1") { $0.magnitude = 4.9 }
    #expect(try world.commit().lines == ["2.0000beef-0-2 updated us1 4.9"])
    world.edit("us1") { $0.depth = 30 }
    #expect(try world.commit().lines == ["2.0000beef-0-3 updated us1 4.9"])
    world.edit("us1") { $0.latitude = 1.5 }
    #expect(try world.commit().lines == ["2.0000beef-0-4 updated us1 4.9"])
    world.edit("us1") { $0.depth = nil }
    #expect(try world.commit().lines == ["2.0000beef-0-5 updated us1 4.9"])
    #expect(try world.pass(.seconds(6 * 86_400)).isEmpty)
    #expect(try world.pass(.seconds(86_400)).lines == ["2.0000beef-0-6 closed us1 4.9"])
    #expect(world.book.nextDue == nil)
    world.edit("us1") { $0.magnitude = 6 }
    #expect(try world.commit().isEmpty)
    #expect(world.alerts.last?.at == ConversationWorld.start.advanced(by: .seconds(7 * 86_400)))
  }

  @Test func aThresholdThatIsCrossedAgainOpensNothing() throws {
    let world = world { $0.magnitudeStep = 0.1 }
    for magnitude in [4.6, 4.3, 4.2, 4.4, 4.5] {
      world.put(.event("us1", magnitude))
      try world.commit()
    }
    #expect(
      world.alerts.lines == [
        "1.0000beef-0-1 opened us1 4.6", "1.0000beef-0-2 updated us1 4.3",
        "1.0000beef-0-3 retracted us1 4.2", "1.0000beef-0-4 updated us1 4.5",
      ])
    #expect(world.alerts.map(\.told?.magnitude) == [nil, 4.6, 4.3, 4.2])
    #expect(world.alerts.map(\.isAfterRetraction) == [false, false, false, true])
  }

  @Test func anEarthquakeThatIsWithdrawnDeletedOrTruncatedIsRetracted() throws {
    let world = world()
    world.put(.event("us1", 5))
    world.put(.event("us2", 5))
    world.put(.event("us3", 5))
    try world.commit()
    world.edit("us1") { $0.withdrawnAt = ConversationWorld.start }
    world.delete("us2")
    #expect(
      try world.commit().lines == [
        "1.0000beef-0-2 retracted us1 5.0", "1.0000beef-1-2 retracted - 0.0",
      ])
    world.edit("us1") { $0.withdrawnAt = nil }
    world.put(.event("us2", 5))
    #expect(
      try world.commit().lines == [
        "1.0000beef-0-3 updated us1 5.0", "1.0000beef-1-3 updated us2 5.0",
      ])
    // A truncate after which some are back in the same transaction.
    world.truncate()
    world.put(.event("us2", 5))
    #expect(
      try world.commit().lines == [
        "1.0000beef-0-4 retracted - 0.0", "1.0000beef-2-2 retracted - 0.0",
      ])
    world.edit("us2") { $0.type = "quarry blast" }
    #expect(try world.commit().isEmpty)
  }

  @Test func anEventOutOfTheRestOfTheFilterIsRetracted() throws {
    let world = world { $0.filter.types = ["earthquake"] }
    world.put(.event("us1", 5))
    try world.commit()
    world.edit("us1") { $0.type = "quarry blast" }
    #expect(try world.commit().lines == ["1.0000beef-0-2 retracted us1 5.0"])
  }

  @Test(arguments: [false, true])
  func aNewPreferredIDGoesOnWithTheConversation(newestFirst: Bool) throws {
    let world = world()
    world.put(.event("us1", 5))
    try world.commit()
    world.put(.event("us2", 5))
    world.edit("us1") { $0.supersededBy = "us2" }
    #expect(
      try world.commit(order: { if !newestFirst { $0.reverse() } }).lines == [
        "1.0000beef-0-2 updated us2 5.0"
      ])
    // And back.
    world.edit("us1") { $0.supersededBy = nil }
    world.edit("us2") { $0.supersededBy = "us1" }
    #expect(try world.commit().lines == ["1.0000beef-0-3 updated us1 5.0"])
    #expect(world.stored.count == 1)
  }

  @Test func twoConversationsAboutOneEarthquakeBecomeTheOlder() throws {
    let world = world()
    world.put(.event("emsc1", 5, source: "emsc"))
    try world.commit()
    world.put(.event("us1", 5.1))
    try world.commit()
    world.edit("emsc1") { $0.supersededBy = "us1" }
    let alerts = try world.commit()
    #expect(
      alerts.lines == [
        "1.0000beef-0-2 updated us1 5.1",
        "2.0000beef-0-2 retracted us1 5.1 into 1.0000beef-0",
      ])
    #expect(world.stored["2.0000beef-0"]?.state == .closed)
    #expect(world.stored["1.0000beef-0"]?.codes == ["emsc1", "us1"])
    // The preferred event goes, and a transaction later the other is shown.
    world.delete("us1")
    #expect(try world.commit().lines == ["1.0000beef-0-3 retracted - 0.0"])
    world.edit("emsc1") { $0.supersededBy = nil }
    #expect(try world.commit().lines == ["1.0000beef-0-4 updated emsc1 5.0"])
  }

  @Test func aSplitLeavesTheConversationWithTheEventThatItShows() throws {
    let world = world()
    world.put(.event("us1", 5))
    try world.commit()
    world.put(.event("us2", 5))
    world.edit("us1") { $0.supersededBy = "us2" }
    try world.commit()
    world.edit("us1") { $0.supersededBy = nil }
    #expect(try world.commit().lines == ["3.0000beef-0-1 opened us1 5.0"])
    #expect(world.stored["1.0000beef-0"]?.codes == ["us2"])
  }

  @Test func anEventBelowTheThresholdTakesOverAndIsToldWithinTheHysteresis() throws {
    let world = world()
    world.put(.event("us1", 4.4))
    try world.commit()
    world.put(.event("emsc1", 4.6, source: "emsc"))
    try world.commit()
    // The event that is shown from now on does not change itself.
    world.edit("emsc1") { $0.supersededBy = "us1" }
    #expect(try world.commit().lines == ["2.0000beef-0-2 updated us1 4.4"])
  }

  @Test func anAliasThatComesBackAfterItsSuccessorIsGoneOpensNothing() throws {
    let world = world()
    // None of these chains passes before the last event does.
    world.put(.event("us1", 4.6).with { $0.supersededBy = "us2" })
    world.put(.event("us2", 4.6).with { $0.supersededBy = "emsc1" })
    world.put(.event("emsc1", 4.6, source: "emsc"))
    try world.commit()
    #expect(world.alerts.count == 1)
    world.delete("emsc1")
    world.edit("us2") { $0.supersededBy = "us1" }
    world.edit("us1") { $0.supersededBy = nil }
    #expect(try world.commit().lines == ["1.0000beef-2-2 updated us1 4.6"])
  }

  @Test func anAlertWaitsForAnAssociation() throws {
    let world = world { $0.settle = .seconds(120) }
    world.put(.event("us1", 5))
    #expect(try world.commit().isEmpty)
    world.put(.event("emsc1", 5, source: "emsc", after: 2))
    #expect(try world.commit().isEmpty)
    world.edit("emsc1") { $0.supersededBy = "us1" }
    #expect(try world.commit(after: 1).isEmpty)
    #expect(world.stored.values.filter { $0.state == .waiting }.map(\.code) == ["us1"])
    #expect(try world.pass(.seconds(60)).lines == ["1.0000beef-0-1 opened us1 5.0"])
    // Told as of the time at which it was due.
    #expect(world.alerts[0].at == ConversationWorld.start.advanced(by: .seconds(180)))
    // With one that was told already.
    world.put(.event("nz1", 5, source: "geonet"))
    try world.commit(after: 1)
    world.edit("nz1") { $0.supersededBy = "us1" }
    try world.commit(after: 1)
    #expect(try world.pass(.seconds(600)).isEmpty)
    // What does not pass any more at the end of its wait is not told.
    world.put(.event("us3", 5))
    try world.commit()
    world.edit("us3") { $0.magnitude = 4 }
    try world.commit(after: 1)
    #expect(try world.pass(.seconds(600)).isEmpty)
    #expect(world.alerts.count == 1)
  }

  @Test func anOldEarthquakeBeginsNoConversation() throws {
    let world = world()
    world.put(.event("us1", 5, after: -8 * 86_400))
    #expect(try world.commit().isEmpty)
    world.edit("us1") { $0.magnitude = 6 }
    #expect(try world.commit().isEmpty)
    #expect(world.stored.isEmpty)
  }

  @Test func anEarthquakeWhoseConversationIsClosedOpensNoOther() throws {
    let world = world { $0.closesAfter = .seconds(600) }
    world.put(.event("us1", 5))
    try world.commit()
    try world.pass(.seconds(600))
    #expect(world.alerts.map(\.kind) == [.opened, .closed])
    // Its origin time moves, and its preferred id changes.
    world.edit("us1") { $0.time = world.now }
    #expect(try world.commit().isEmpty)
    world.put(.event("us2", 5).with { $0.time = world.now })
    world.edit("us1") { $0.supersededBy = "us2" }
    #expect(try world.commit().isEmpty)
    world.edit("us2") { $0.magnitude = 6 }
    #expect(try world.commit().isEmpty)
    #expect(world.stored.count == 1)
  }

  @Test func anAgeInTheFilterRetractsNothing() throws {
    let world = world { $0.filter.newerThan = .seconds(600) }
    world.put(.event("us1", 5))
    world.put(.event("us2", 5, after: -600))
    try world.commit()
    #expect(world.alerts.map(\.event?.code) == ["us1"])
    world.edit("us1") { $0.magnitude = 5.5 }
    try world.commit(after: 3600)
    #expect(world.alerts.map(\.kind) == [.opened, .updated])
  }

  @Test func aftershocksMustBeStrongerToBeTold() throws {
    let world = world { $0.quietsAftershocks = true }
    world.put(.event("main", 7))
    try world.commit()
    world.put(.event("weak", 4.9, after: 10))
    world.put(.event("strong", 5, after: 10))
    world.put(.event("before", 4.9, after: -10))
    // The radius is 2 * 10^(-2.44 + 0.59 * 7) = 98.0 km; a degree of longitude has 111.2 km here.
    world.put(.event("far", 4.9, after: 10).with { $0.longitude = 2.9 })
    world.put(.event("near", 4.9, after: 10).with { $0.longitude = 2.85 })
    try world.commit()
    #expect(Set(world.alerts.compactMap(\.event?.code)) == ["main", "strong", "before", "far"])
    // Revised, so that it is told.
    world.edit("weak") { $0.magnitude = 5.2 }
    #expect(try world.commit().map(\.kind) == [.opened])
    // The zone ends with the conversation.
    try world.pass(.seconds(7 * 86_400))
    world.put(.event("late", 4.9, after: 7 * 86_400))
    #expect(try world.commit().map(\.kind) == [.opened])
  }

  @Test(arguments: [0, 60])
  func theStrongestOfATransactionQuietsItsAftershocks(settle: Int64) throws {
    let world = world {
      $0.quietsAftershocks = true
      $0.settle = .seconds(settle)
    }
    // As feeds have them: the newest first.
    world.put(.event("us3", 4.6, after: 1200))
    world.put(.event("us2", 4.9, after: 600))
    world.put(.event("us1", 7))
    world.put(.event("us0", 4.7, after: -600))
    try world.commit()
    try world.pass(.seconds(60))
    #expect(world.alerts.map { $0.event?.code } == ["us1", "us0"])
  }

  @Test func onlyTheNewestIsTold() throws {
    let world = world { $0.isNewestOnly = true }
    world.put(.event("us1", 5, after: 30))
    try world.commit()
    world.put(.event("us2", 6, after: 20))
    world.put(.event("us3", 5, after: 40))
    try world.commit()
    #expect(world.alerts.map(\.event?.code) == ["us1", "us3"])
  }

  @Test func atNightOnlyStrongEarthquakesBeginAConversation() throws {
    let hours = try #require(NightHours("22:00-07:00", in: .utc))
    let world = world { $0.night = .init(minimumMagnitude: 6, hours: hours) }
    world.put(.event("us1", 5))
    world.put(.event("us2", 6))
    world.put(.event("us3", nil))
    try world.commit()
    #expect(world.alerts.map(\.event?.code) == ["us2"])
    world.edit("us1") { $0.magnitude = 5.1 }
    #expect(try world.commit(after: 8 * 3600).map(\.event?.code) == ["us1"])
    // What was told is corrected at night too.
    world.edit("us1") { $0.magnitude = 5.5 }
    #expect(try world.commit(after: 16 * 3600).map(\.kind) == [.updated])
  }
}
