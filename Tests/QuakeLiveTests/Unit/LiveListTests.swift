import QuakeModel
import QuakeQuery
import TestSupport
import Testing

@testable import QuakeStore

@Suite struct LiveListTests {
  private static func quake(
    _ code: String, time: Int64 = 0, magnitude: Double? = nil, place: String = ""
  ) -> EventRecord {
    var quake = EventRecord()
    quake.set(.code, code)
    quake.set(.time, Timestamp(microseconds: time))
    if let magnitude { quake.set(.magnitude, magnitude) }
    if !place.isEmpty { quake.set(.place, place) }
    return quake
  }

  private static func change(_ code: String?, to quake: EventRecord?) -> Change {
    let transaction = ChangeTransaction(
      token: .beginning, author: nil, context: nil, application: nil, user: "", processID: 0,
      client: nil, at: Timestamp(microseconds: 0), importID: nil,
      counts: ChangeCounts(updated: 1))
    let op: ChangeOperation = code == nil ? .truncate : quake == nil ? .delete : .update
    return Change(
      transaction: transaction, position: 0, op: op, code: code, changed: [], old: nil, new: quake)
  }

  private static func apply(
    _ changes: [Change], to list: inout LiveList, filter: EventFilter = EventFilter()
  ) -> LiveEvents.Difference {
    var query = EventQuery(filter)
    query.past = [.superseded, .withdrawn]
    let selection = ListSelection(query, columns: Set(EventColumn.allCases))
    var net = NetChanges()
    for change in changes { net.add(change, selection: selection, list: list) }
    return list.apply(net)
  }

  private static func list(_ order: EventOrder) -> LiveList {
    guard let order = ListOrder([order]) else { preconditionFailure("no order of a whole list") }
    return LiveList(order: order)
  }

  private static func codes(_ list: LiveList) -> String {
    list.events.map { $0.text(.code) ?? "" }.joined()
  }

  /// Four events a to d, a being the newest.
  private static func fourEvents() -> LiveList {
    var list = Self.list(.newestFirst)
    _ = list.apply(
      NetChanges(
        replacingAllWith: ["d": 10, "b": 30, "a": 40, "c": 20].map { quake($0, time: $1) }))
    return list
  }

  @Test func aListMovesAnEventOnlyWhenItPassesAnother() {
    var list = Self.fourEvents()
    var difference = Self.apply([Self.change("c", to: Self.quake("c", time: 15))], to: &list)
    #expect(Self.codes(list) == "abcd")
    #expect(difference.modifications == [2] && difference.deletions.isEmpty)
    difference = Self.apply([Self.change("c", to: Self.quake("c", time: 35))], to: &list)
    #expect(Self.codes(list) == "acbd")
    #expect(difference.deletions == [2] && difference.insertions == [1])
    #expect(difference.moves == [.init(from: 2, to: 1)])
    #expect(difference.modifications.isEmpty)
    // Both stay between a and d; only one of them has to step aside for the other.
    difference = Self.apply(
      [
        Self.change("c", to: Self.quake("c", time: 25)),
        Self.change("b", to: Self.quake("b", time: 26)),
      ], to: &list)
    #expect(Self.codes(list) == "abcd")
    #expect(difference.moves.count == 1 && difference.modifications.count == 1)
  }

  @Test func aListHasEventsWhoseCodesLookAlike() {
    let (composed, decomposed) = ("\u{E9}1", "e\u{301}1")
    var list = Self.list(.newestFirst)
    _ = list.apply(
      NetChanges(replacingAllWith: [composed, decomposed].map { Self.quake($0) }))
    #expect(list.events.count == 2)
    let difference = Self.apply(
      [Self.change(composed, to: nil), Self.change("f", to: Self.quake("f"))], to: &list)
    #expect(list.events.map { Array($0.id.utf8) } == [decomposed, "f"].map { Array($0.utf8) })
    #expect(difference.deletions == [1] && difference.insertions == [1])
    let window = LiveEvents.Difference(
      from: [Self.quake(composed)], to: [Self.quake(decomposed)])
    #expect(window.deletions == [0] && window.insertions == [0])
  }

  @Test func aListOrdersMagnitudesAsPostgreSQLDoes() {
    let quakes = [
      Self.quake("f"), Self.quake("e", magnitude: -1), Self.quake("c", magnitude: 0),
      Self.quake("d", magnitude: -0.0), Self.quake("b", magnitude: 7),
      Self.quake("a", magnitude: .nan),
    ]
    var descending = Self.list(.greatestFirst)
    _ = descending.apply(NetChanges(replacingAllWith: quakes))
    #expect(Self.codes(descending) == "abcdef")
    var ascending = Self.list(EventOrder(.magnitude))
    _ = ascending.apply(NetChanges(replacingAllWith: quakes))
    #expect(Self.codes(ascending) == "ecdbaf")
  }

  @Test(arguments: 0..<40)
  func eachDifferenceOfAListLeadsToWhatItsChangesMake(seed: UInt64) {
    var generator = SeededGenerator(seed)
    let orders: [EventOrder] = [
      .newestFirst, EventOrder(.time), .greatestFirst, EventOrder(.magnitude),
    ]
    let order = orders[Int(seed) % orders.count]
    var filter = EventFilter()
    if seed % 3 == 0 { filter.minimumMagnitude = 2 }
    var list = Self.list(order)
    var table: [String: EventRecord] = [:]
    for _ in 0..<100 {
      let before = list.events
      var changes: [Change] = []
      for _ in 0..<Int.random(in: 0...12, using: &generator) {
        changes.append(Self.randomChange(&table, &generator))
      }
      let difference = Self.apply(changes, to: &list, filter: filter)
      // Few values, so that many are equal.
      let expected = table.values.filter(filter.accepts).sorted { left, right in
        let keys = (Self.rank(left, order), Self.rank(right, order))
        return keys.0 == keys.1
          ? left.text(.code) ?? "" < right.text(.code) ?? "" : keys.0 < keys.1
      }
      #expect(list.events == expected)
      #expect(Self.follow(difference, from: before, to: list.events) == list.events)
      #expect(difference.isEmpty == (before == list.events))
      Self.check(difference, before: before, after: list.events)
    }
  }

  @Test(arguments: 0..<40)
  func theDifferenceOfTwoListsMovesAsFewEventsAsPossible(seed: UInt64) {
    var generator = SeededGenerator(seed)
    func list() -> [EventRecord] {
      (0..<12).filter { _ in Bool.random(using: &generator) }.shuffled(using: &generator).map {
        Self.quake("\($0)", magnitude: Double(Int.random(in: 0..<2, using: &generator)))
      }
    }
    let (old, new) = (list(), list())
    let difference = LiveEvents.Difference(from: old, to: new)
    Self.check(difference, before: old, after: new)
    #expect(Self.follow(difference, from: old, to: new) == new)
    let least = new.map(\.code).difference(from: old.map(\.code))
    #expect(difference.deletions.count == least.removals.count)
    #expect(difference.insertions.count == least.insertions.count)
  }

  /// With an algorithm whose time grows with the square of their number, this takes minutes.
  @Test func aLongListCanBeTurnedRound() {
    let events = (0..<100_000).map { Self.quake("us\($0)") }
    let difference = LiveEvents.Difference(from: events, to: events.reversed())
    #expect(difference.moves.count == events.count - 1)
    #expect(difference.deletions.count == events.count - 1 && difference.modifications.isEmpty)
  }

  private static func randomChange(
    _ table: inout [String: EventRecord], _ generator: inout SeededGenerator
  ) -> Change {
    if Int.random(in: 0..<60, using: &generator) == 0 {
      table = [:]
      return change(nil, to: nil)
    }
    let code = "e\(Int.random(in: 0..<30, using: &generator))"
    if Int.random(in: 0..<4, using: &generator) == 0 {
      table[code] = nil
      return change(code, to: nil)
    }
    let magnitude = Int.random(in: -1..<5, using: &generator)
    let new = quake(
      code, time: Int64.random(in: 0..<20, using: &generator),
      magnitude: magnitude < 0 ? nil : Double(magnitude),
      place: ["", "here", "there"][Int.random(in: 0..<3, using: &generator)])
    table[code] = new
    return change(code, to: new)
  }

  private static func rank(_ quake: EventRecord, _ order: EventOrder) -> Double {
    let value =
      order.column == .time ? quake.time.map { Double($0.microseconds) } : quake.magnitude
    return value.map { order.direction == .descending ? -$0 : $0 } ?? 1_000
  }

  /// What the rules of `LiveEvents.Difference` make of the old list, done by hand.
  private static func follow(
    _ difference: LiveEvents.Difference, from old: [EventRecord], to new: [EventRecord]
  ) -> [EventRecord] {
    var left = old.enumerated().filter { !difference.deletions.contains($0.offset) }
      .map(\.element)[...]
    var result: [EventRecord] = []
    for index in new.indices {
      if difference.insertions.contains(index) {
        result.append(new[index])
      } else if let next = left.popFirst() {
        result.append(difference.modifications.contains(index) ? new[index] : next)
      }
    }
    var applied = old
    difference.apply(to: &applied) { new[$0] }
    #expect(applied == result + left)
    return result + left
  }

  private static func check(
    _ difference: LiveEvents.Difference, before: [EventRecord], after: [EventRecord]
  ) {
    for indices in [difference.deletions, difference.insertions, difference.modifications] {
      #expect(zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 })
    }
    for move in difference.moves {
      #expect(before[move.from].text(.code) == after[move.to].text(.code))
      #expect(difference.deletions.contains(move.from))
      #expect(difference.insertions.contains(move.to))
    }
    // Every event that comes and goes is told as a move, every other is really gone or new.
    let deleted = Set(difference.deletions.compactMap { before[$0].text(.code) })
    let inserted = Set(difference.insertions.compactMap { after[$0].text(.code) })
    #expect(deleted.intersection(inserted).count == difference.moves.count)
    // A modification is one.
    let old = Dictionary(grouping: before, by: { $0.text(.code) })
    for index in difference.modifications {
      #expect(old[after[index].text(.code)]?.first != after[index])
    }
  }
}
