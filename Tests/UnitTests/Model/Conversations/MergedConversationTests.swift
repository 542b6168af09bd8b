import QuakeModel
import Testing

@testable import QuakeConsumers

/// Conversations that turn out to be about one earthquake, of which a limit may have dropped some, and those whose
/// events come and go in thousands.
@Suite struct MergedConversationTests {
  @Test func aConversationWhoseFirstMessageWasDroppedTellsNothing() throws {
    let world = ConversationWorld(dropping: "1.0000beef-0") {
      $0.quietsAftershocks = true
      $0.isNewestOnly = true
      $0.tellsClosed = true
    }
    world.put(.event("us1", 7, after: 20))
    #expect(try world.commit().isEmpty)
    world.edit("us1") { $0.magnitude = 7.9 }
    #expect(try world.commit().isEmpty)
    // It makes nothing quieter, because nobody knows of it.
    world.put(.event("us2", 4.9, after: 10))
    #expect(try world.commit().lines == ["3.0000beef-0-1 opened us2 4.9"])
    #expect(try world.pass(.seconds(8 * 86_400)).map(\.conversation) == ["3.0000beef-0"])
  }

  @Test func aMergeGoesOnWithWhatWasTold() throws {
    let world = ConversationWorld(dropping: "1.0000beef-0")
    world.put(.event("us1", 5))
    #expect(try world.commit().isEmpty)
    world.put(.event("emsc1", 5.1, source: "emsc"))
    #expect(try world.commit().lines == ["2.0000beef-0-1 opened emsc1 5.1"])
    world.edit("emsc1") { $0.supersededBy = "us1" }
    #expect(try world.commit().lines == ["2.0000beef-0-2 updated us1 5.0"])
    world.edit("us1") { $0.magnitude = 7.9 }
    #expect(try world.commit().lines == ["2.0000beef-0-3 updated us1 7.9"])
    #expect(world.stored["1.0000beef-0"]?.state == .closed)
    #expect(world.stored["2.0000beef-0"]?.codes == ["us1", "emsc1"])
    #expect(world.faults == [])
  }

  @Test func aMergeOfAnOpenConversationIntoARetractedOneIsTold() throws {
    let world = ConversationWorld()
    world.put(.event("us1", 5))
    try world.commit()
    world.edit("us1") { $0.withdrawnAt = ConversationWorld.start }
    try world.commit()
    world.put(.event("emsc1", 4.6, source: "emsc"))
    try world.commit()
    // Below the threshold, but within the hysteresis, as it was told.
    world.edit("us1") {
      $0.withdrawnAt = nil
      $0.magnitude = 4.4
    }
    world.edit("emsc1") { $0.supersededBy = "us1" }
    #expect(
      try world.commit().lines == [
        "1.0000beef-0-3 updated us1 4.4",
        "3.0000beef-0-2 retracted us1 4.4 into 1.0000beef-0",
      ])
  }

  @Test func anEventOfAClosedConversationThatIsShownForAnotherLeavesIt() throws {
    let world = ConversationWorld { $0.closesAfter = .seconds(600) }
    world.put(.event("us1", 5))
    try world.commit()
    try world.pass(.seconds(600))
    #expect(world.stored["1.0000beef-0"]?.state == .closed)
    world.put(.event("us2", 5, after: 600))
    try world.commit()
    world.edit("us2") { $0.supersededBy = "us1" }
    try world.commit()
    #expect(world.alerts.map(\.kind) == [.opened, .opened, .updated])
    #expect(world.stored["1.0000beef-0"]?.codes == [])
    #expect(world.stored["2.0000beef-0"]?.codes == ["us1", "us2"])
    try world.rewind(to: 2)
    #expect(world.faults == [])
  }

  @Test func whatIsOverIsToldOnlyIfItIsWanted() throws {
    let world = ConversationWorld()
    world.put(.event("us1", 5))
    try world.commit()
    #expect(try world.pass(.seconds(8 * 86_400)).isEmpty)
    #expect(world.stored["1.0000beef-0"]?.state == .closed && world.book.nextDue == nil)
    world.edit("us1") { $0.magnitude = 7 }
    #expect(try world.commit().isEmpty)
  }

  @Test func codesThatOnlyLookAlikeAreOtherEvents() throws {
    let world = ConversationWorld()
    let codes = ["caf\u{E9}", "cafe\u{301}", "a\nb", "a", "b", "A"]
    for code in codes { world.put(.event(code, 5)) }
    #expect(try world.commit().count == 6)
    world.edit("cafe\u{301}") { $0.magnitude = 6 }
    world.delete("a\nb")
    #expect(
      try world.commit().lines == [
        "1.0000beef-1-2 updated cafe\u{301} 6.0", "1.0000beef-2-2 retracted - 0.0",
      ])
    // One is replaced by the other.
    world.edit("caf\u{E9}") { $0.supersededBy = "cafe\u{301}" }
    #expect(try world.commit().map(\.conversation) == ["1.0000beef-0", "1.0000beef-1"])
    #expect(world.alerts.last?.text.contains("cafe\u{301}") == true)
  }

  @Test func thousandsOfEarthquakesInATransactionNeedFewQuestions() throws {
    let world = ConversationWorld { $0.settle = .seconds(60) }
    let count = 1000
    func expectAll(_ alerts: [Alert], _ kind: Message.Kind, _ questions: Int) {
      #expect(alerts.count == count && alerts.allSatisfy { $0.kind == kind })
      let ages = alerts.map { Int($0.conversation.split(separator: "-")[1]) ?? 0 }
      #expect(ages == Array(0..<count), "in the order of the changes")
      #expect(world.questions - before <= questions, "\(world.questions - before) questions")
      before = world.questions
    }
    var before = 0
    for number in 0..<count { world.put(.event("us\(number)", 5)) }
    #expect(try world.commit().isEmpty)
    expectAll(try world.pass(.seconds(60)), .opened, 2)
    for number in 0..<count {
      world.put(.event("em\(number)", 5, source: "emsc"))
      world.edit("us\(number)") { $0.supersededBy = "em\(number)" }
    }
    expectAll(try world.commit(), .updated, 2)
    world.truncate()
    expectAll(try world.commit(), .retracted, 0)
    for number in 0..<count { world.put(.event("em\(number)", 5, source: "emsc")) }
    expectAll(try world.commit(), .updated, 0)
    for number in 0..<count { world.delete("em\(number)") }
    expectAll(try world.commit(), .retracted, 0)
    #expect(world.faults == [])
  }
}
