import QuakeModel
import TestSupport
import Testing

@testable import QuakeConsumers

/// Random histories: revisions across the threshold, new preferred ids and their return, splits, two agencies,
/// withdrawals, deletions, truncates, and chains and circles as people can make them.
@Suite struct RandomConversationTests {
  private static let usgs = (1...5).map { "us\($0)" }
  private static let emsc = (1...3).map { "emsc\($0)" }
  private static let codes = usgs + emsc

  /// Does something to the events of a world.
  private func edit(_ world: ConversationWorld, using generator: inout SeededGenerator) {
    let code = Self.codes.randomElement(using: &generator) ?? ""
    let other = Self.codes.randomElement(using: &generator) ?? ""
    let magnitude = Double(Int.random(in: 38...52, using: &generator)) / 10
    let isThere = world.events[EventCode(code)] != nil
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<8: world.delete(code)
    case 8..<9: world.truncate()
    case 9..<22: world.edit(code) { $0.withdrawnAt = $0.withdrawnAt == nil ? world.now : nil }
    case 22..<36 where code != other && isThere:
      // A change of the preferred id, or a merge.
      if world.events[EventCode(other)] == nil {
        world.put(.event(other, magnitude, source: source(other)))
      }
      world.edit(other) { $0.supersededBy = nil }
      world.edit(code) { $0.supersededBy = other }
    case 36..<44: world.edit(code) { $0.supersededBy = nil }
    case 44..<50 where code != other: world.edit(code) { $0.supersededBy = other }
    case 50..<58: world.edit(code) { $0.latitude = Double.random(in: 0...2, using: &generator) }
    case 58..<62: world.edit(code) { $0.depth = $0.depth == nil ? 10 : nil }
    case 62..<65: world.edit(code) { $0.magnitude = nil }
    default:
      if isThere {
        world.edit(code) { $0.magnitude = magnitude }
      } else {
        world.put(.event(code, magnitude, source: source(code)))
      }
    }
  }

  private func source(_ code: String) -> String { code.hasPrefix("us") ? "usgs" : "emsc" }

  private func rule(_ change: (inout AlertRule) -> Void = { _ in }) -> AlertRule {
    var rule = AlertRule()
    rule.filter.minimumMagnitude = 4.5
    rule.filter.types = ["earthquake"]
    rule.closesAfter = .seconds(1000 * 86_400)
    rule.tellsClosed = true
    change(&rule)
    return rule
  }

  /// Commits random transactions.
  ///
  /// - Parameters:
  ///   - earliest: The fewest seconds between two, which may also be in the other order.
  ///   - cuts: Decides when the book is lost and made anew.
  ///   - body: Called after each transaction, with its alerts.
  private func run(
    _ world: ConversationWorld, _ count: Int, seed: UInt64, cuts: inout SeededGenerator?,
    earliest: Int64 = -5, _ body: ([Alert]) throws -> Void = { _ in }
  ) throws {
    var generator = SeededGenerator(seed)
    for _ in 0..<count {
      for _ in 0..<Int.random(in: 1...4, using: &generator) { edit(world, using: &generator) }
      var order = generator
      _ = generator.next()
      var cut: Int?
      if var random = cuts {
        if Bool.random(using: &random) { cut = Int.random(in: 0...3, using: &random) }
        cuts = random
      }
      let alerts = try world.commit(
        after: Int64.random(in: earliest...90, using: &generator),
        order: { $0.shuffle(using: &order) }, cut: cut)
      try body(alerts)
    }
  }

  @Test(arguments: Seeds.first(16, of: 1...2000))
  func eachShownEarthquakeHasOneConversationThatToldOfIt(seed: UInt64) throws {
    let rule = rule()
    let world = ConversationWorld(rule)
    var last: [String: Alert] = [:]
    var before: [String: Conversation] = [:]
    var none: SeededGenerator?
    try run(world, 150, seed: seed, cuts: &none) { alerts in
      for alert in alerts {
        let previous = last.updateValue(alert, forKey: alert.conversation)
        #expect(alert.number == (previous?.number ?? 0) + 1)
        #expect((alert.kind == .opened) == (previous == nil))
        #expect(previous.map { $0.kind != .closed && $0.mergedInto == nil } ?? true)
        #expect((previous?.kind == .retracted) == alert.isAfterRetraction)
        #expect(previous?.kind != .retracted || alert.kind != .retracted || alert.mergedInto != nil)
        // After a truncate nobody knows which event was which earthquake.
        if alert.kind == .opened, !world.wasTruncated {
          expectNew(EventCode(alert.event?.code ?? ""), world, before)
        }
      }
      // What is shown and passes was told, and nothing else is open.
      let open = world.stored.values.filter { $0.state == .open }
      let told = Dictionary(grouping: open, by: \.code)
      #expect(told.values.allSatisfy { $0.count == 1 }, "two conversations show one event")
      for (code, event) in world.events {
        guard event.supersededBy == nil, event.withdrawnAt == nil else { continue }
        if rule.returning.accepts(event) { #expect(told[code] != nil, "\(code) is not told") }
      }
      for conversation in open {
        let event = ConversationWorld.shown(conversation.code, in: world.events)
        #expect(event?.code == conversation.code.text && event.map(rule.holding.accepts) ?? false)
        guard let event, let values = conversation.told else { continue }
        #expect(event.code == values.code && event.source == values.agency)
        #expect(abs((event.magnitude ?? 0) - (values.magnitude ?? 0)) < 0.3)
        #expect((event.depth == nil) == (values.depth == nil))
      }
      before = world.stored
    }
    #expect(world.faults == [])
    #expect(last.count > 3)
  }

  /// Checks that the earthquake of an event had no conversation that could have gone on with it.
  private func expectNew(
    _ code: EventCode, _ world: ConversationWorld, _ before: [String: Conversation]
  ) {
    let end = ConversationWorld.end(of: code, in: world.before)
    for conversation in before.values
    where conversation.messages > 0 && conversation.state != .closed {
      guard conversation.code == code || conversation.code == end else { continue }
      // Only a split leaves the event without its conversation.
      let now = world.stored[conversation.id]
      // It can have found its event, and with that another conversation.
      if now?.state == .closed { continue }
      let shown = now.flatMap { ConversationWorld.shown($0.code, in: world.events)?.code }
      #expect(shown != nil && shown != code.text, "\(code) was told in \(conversation.id)")
    }
  }

  @Test(arguments: Seeds.first(8, of: 1...500), [0, 100])
  func aBookThatIsLostAnywhereTellsTheSame(seed: UInt64, settle: Int64) throws {
    let rule = rule {
      $0.settle = .seconds(settle)
      $0.closesAfter = .seconds(3000)
      $0.isNewestOnly = seed % 3 == 0
      $0.quietsAftershocks = seed % 2 == 0
    }
    var none: SeededGenerator?
    var cuts: SeededGenerator? = SeededGenerator(seed &+ 1)
    let whole = ConversationWorld(rule)
    try run(whole, 150, seed: seed, cuts: &none)
    let cut = ConversationWorld(rule)
    try run(cut, 150, seed: seed, cuts: &cuts)
    #expect(whole.alerts.map { Message($0) } == cut.alerts.map { Message($0) })
    #expect(whole.stored == cut.stored)
    #expect(whole.faults + cut.faults == [])
    for (id, alerts) in Dictionary(grouping: whole.alerts, by: \.conversation) {
      #expect(alerts.map(\.number) == Array(1...alerts.count))
      #expect(alerts.filter { $0.kind == .opened }.count == 1 && alerts[0].kind == .opened)
      #expect(alerts.dropLast().allSatisfy { $0.kind != .closed && $0.mergedInto == nil })
      #expect(whole.stored[id]?.messages == alerts.count)
    }
    // Nothing that waits is left in the end.
    try whole.pass(.seconds(10_000))
    #expect(whole.stored.values.allSatisfy { $0.state == .closed })
  }

  /// Whether a limit drops the first message of a conversation: always the same ones.
  private static func drops(_ alert: Alert) -> Bool {
    alert.conversation.utf8.reduce(0) { $0 &* 31 &+ Int($1) } % 3 == 0
  }

  @Test(arguments: Seeds.first(8, of: 1...500), [0, 100])
  func aRewindAnywhereTellsTheSameAgain(seed: UInt64, settle: Int64) throws {
    let drops: (Alert) -> Bool = { seed % 3 != 0 && Self.drops($0) }
    let rule = rule {
      $0.settle = .seconds(settle)
      $0.closesAfter = .seconds(3000)
      $0.tellsClosed = seed % 2 == 0
    }
    let world = ConversationWorld(rule, drops: drops)
    var generator = SeededGenerator(seed &+ 2)
    var none: SeededGenerator?
    for round in 1...10 {
      try run(world, 12, seed: seed &* 1000 &+ UInt64(round), cuts: &none, earliest: 0)
      try world.pass(.seconds(Int64.random(in: 0...200, using: &generator)))
      try world.rewind(to: Int.random(in: 0...(round * 12), using: &generator))
    }
    #expect(world.faults == [])
    // What nobody was told first is never told.
    for alerts in Dictionary(grouping: world.alerts, by: \.conversation).values {
      #expect(alerts[0].kind == .opened && !drops(alerts[0]))
    }
  }
}
