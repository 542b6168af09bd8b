import QuakeModel
import Testing

@testable import QuakeConsumers

extension EventRecord {
  /// An event near the equator. By default its origin time is that of the first transaction of a world.
  static func event(
    _ code: String, _ magnitude: Double?, source: String = "usgs", place: String? = "somewhere",
    after seconds: Int64 = 0
  ) -> EventRecord {
    var event = EventRecord()
    event.code = code
    event.source = source
    event.type = "earthquake"
    event.magnitude = magnitude
    event.place = place
    event.time = ConversationWorld.start.advanced(by: .seconds(seconds))
    event.latitude = 1
    event.longitude = 2
    event.depth = 10
    return event
  }

  func with(_ edit: (inout EventRecord) -> Void) -> EventRecord {
    var copy = self
    edit(&copy)
    return copy
  }
}

/// A store in memory: its events, its history, and a book that follows it, with what that has stored.
final class ConversationWorld: ConversationSource {
  static let start = Timestamp(microseconds: 1_767_225_600_000_000)

  private let rule: AlertRule
  private(set) var book: ConversationBook
  private(set) var now = ConversationWorld.start
  private(set) var events: [EventCode: EventRecord] = [:]
  /// The events after each transaction.
  private var states: [[EventCode: EventRecord]] = [[:]]
  /// The transactions, from the first on.
  private var transactions: [(transaction: ChangeTransaction, changes: [Change])] = []
  /// Whether a limit drops the first message of a conversation.
  private let drops: (Alert) -> Bool
  /// How often the book has asked for something.
  private(set) var questions = 0
  /// The rows of the tables.
  private(set) var stored: [String: Conversation] = [:]
  private var past: [String: [Int64: Conversation]] = [:]
  private(set) var alerts: [Alert] = []
  private(set) var faults: [String] = []
  /// Whether the last transaction removed all events.
  private(set) var wasTruncated = false
  /// What the transaction under way has done so far.
  private var changes:
    [(op: ChangeOperation, code: EventCode?, old: EventRecord?, new: EventRecord?)] =
      []

  init(_ rule: AlertRule, drops: @escaping (Alert) -> Bool = { _ in false }) {
    self.rule = rule
    self.drops = drops
    book = ConversationBook(
      rule: rule, conversations: [], after: HistoryCursor(token: .beginning),
      source: EmptySource())
    restart()
  }

  /// A world of which earthquakes from magnitude 4.5 on are told.
  ///
  /// - Parameter dropped: The conversation whose first message a limit drops.
  convenience init(dropping dropped: String = "", _ change: (inout AlertRule) -> Void = { _ in }) {
    var rule = AlertRule()
    rule.filter.minimumMagnitude = 4.5
    change(&rule)
    self.init(rule) { $0.conversation == dropped }
  }

  private struct EmptySource: ConversationSource {
    func events(_ codes: [EventCode], after: ChangeToken) -> [EventCode: EventRecord] { [:] }
    func closedConversations(of codes: [EventCode]) -> [Conversation] { [] }
  }

  func events(_ codes: [EventCode], after token: ChangeToken) -> [EventCode: EventRecord] {
    questions += 1
    let state = states[Int(token.number)]
    return Dictionary(
      codes.compactMap { code in state[code].map { (code, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  func closedConversations(of codes: [EventCode]) -> [Conversation] {
    questions += 1
    let codes = Set(codes)
    return stored.values.filter { $0.state == .closed && !$0.codes.isDisjoint(with: codes) }
  }

  var token: ChangeToken { Self.token(states.count - 1) }

  private static func token(_ number: Int) -> ChangeToken {
    number == 0 ? .beginning : ChangeToken(number: Int64(number), nonce: "0000beef") ?? .beginning
  }

  /// Makes the book anew from what it has stored.
  func restart() { restart(after: token) }

  private func restart(after token: ChangeToken) {
    book = ConversationBook(
      rule: rule, conversations: stored.values.filter { $0.state != .closed },
      after: HistoryCursor(token: token), source: self
    ) { [drops] in !$0.isMuted && ($0.kind != .opened || !drops($0)) }
  }

  /// Makes the conversations what they were after a transaction, and decides again about all later ones. That must
  /// give the same.
  func rewind(to number: Int) throws {
    // Decided now or then, what is due is decided.
    try pass(.zero)
    let (told, before) = (alerts.filter { $0.token.number > number }, stored)
    for (id, conversation) in stored {
      if conversation.age.transaction > number {
        (stored[id], past[id]) = (nil, nil)
      } else if let first = past[id]?.keys.filter({ $0 > number }).min() {
        stored[id] = past[id]?[first]
        past[id] = past[id]?.filter { $0.key <= number }
      }
    }
    restart(after: Self.token(number))
    var again: [Alert] = []
    for (transaction, changes) in transactions[number...] {
      for change in changes { book.take(change) }
      again += try book.end(of: transaction)
      store()
    }
    again += try book.advance(to: now)
    store()
    if again.map({ Message($0) }) != told.map({ Message($0) }) {
      faults.append("\(told.map(\.id)) became \(again.map(\.id)) after a rewind to \(number)")
    }
    for (id, conversation) in stored where conversation != before[id] {
      faults.append(
        "after a rewind to \(number) \(id) is \(conversation), and not \(before[id]?.state as Any)")
    }
    if stored.count != before.count {
      faults.append("a rewind to \(number) has lost a conversation")
    }
  }

  // MARK: - A transaction

  func put(_ event: EventRecord) {
    let code = EventCode(event.code ?? "")
    let old = events[code]
    guard old != event else { return }
    changes.append((old == nil ? .insert : .update, code, old, event))
    events[code] = event
  }

  func edit(_ code: String, _ edit: (inout EventRecord) -> Void) {
    if let event = events[EventCode(code)] { put(event.with(edit)) }
  }

  func delete(_ text: String) {
    let code = EventCode(text)
    guard let old = events.removeValue(forKey: code) else { return }
    changes.append((.delete, code, old, nil))
  }

  func truncate() {
    events = [:]
    changes.append((.truncate, nil, nil, nil))
  }

  /// Commits what was done since the last commit.
  ///
  /// - Parameters:
  ///   - seconds: How long after the transaction before.
  ///   - order: Arranges the changes anew, of which those of one event keep their order.
  ///   - cut: How many changes a book takes that is then lost; nil: none is lost.
  /// - Returns: What is told.
  @discardableResult func commit(
    after seconds: Int64 = 60, order: ((inout [Int]) -> Void)? = nil, cut: Int? = nil
  ) throws -> [Alert] {
    now = now.advanced(by: .seconds(seconds))
    let transaction = ChangeTransaction(
      token: Self.token(states.count), author: nil, context: nil, application: nil, user: "",
      processID: 0, client: nil, at: now, importID: nil,
      counts: ChangeCounts(updated: Int64(changes.count)))
    var numbers = Array(changes.indices)
    if let order, !changes.contains(where: { $0.op == .truncate }) {
      order(&numbers)
      // Those of one event in the order in which they were made.
      var next: [EventCode: [Int]] = [:]
      for number in changes.indices { next[changes[number].code ?? "", default: []].append(number) }
      numbers = numbers.map { next[changes[$0].code ?? "", default: []].removeFirst() }
    }
    wasTruncated = changes.contains { $0.op == .truncate }
    let all = numbers.enumerated().map { position, number in
      let change = changes[number]
      return Change(
        transaction: transaction, position: Int64(position), op: change.op,
        code: change.code?.text, changed: [], old: change.old, new: change.new)
    }
    changes = []
    if let cut {
      for change in all.prefix(cut) { book.take(change) }
      restart()
    }
    states.append(events)
    transactions.append((transaction, all))
    for change in all { book.take(change) }
    let alerts = try book.end(of: transaction)
    store()
    self.alerts += alerts
    return alerts
  }

  /// Lets time pass without a transaction.
  @discardableResult func pass(_ duration: Duration) throws -> [Alert] {
    now = now.advanced(by: duration)
    let alerts = try book.advance(to: now)
    store()
    self.alerts += alerts
    return alerts
  }

  private func store() {
    let (changed, before) = book.takeUnstored()
    for conversation in changed { stored[conversation.id] = conversation }
    for past in before {
      // The first of a transaction counts.
      self.past[past.conversation.id, default: [:]].merge(
        [past.token.number: past.conversation]
      ) { first, _ in first }
    }
    let codes = stored.values.flatMap(\.codes)
    if Set(codes).count != codes.count { faults.append("an event is in two conversations") }
  }

  // MARK: - What is shown

  /// The event that is shown in place of one in a state; nil if none is.
  static func shown(_ code: EventCode, in events: [EventCode: EventRecord]) -> EventRecord? {
    var next = code
    for _ in 0..<100 {
      guard let event = events[next] else { return nil }
      guard let successor = event.supersededBy else {
        return event.withdrawnAt == nil ? event : nil
      }
      next = EventCode(successor)
    }
    return nil
  }

  /// The last code of the chain of events that supersede one another; it need not exist.
  static func end(of code: EventCode, in events: [EventCode: EventRecord]) -> EventCode? {
    var next = code
    for _ in 0..<100 {
      guard let successor = events[next]?.successor else { return next }
      next = successor
    }
    return nil
  }

  /// The events before the last transaction.
  var before: [EventCode: EventRecord] { states.count > 1 ? states[states.count - 2] : [:] }
}

extension [Alert] {
  /// A line for each: `1.0000beef-0-2 updated us1 5.1`.
  var lines: [String] {
    map {
      "\($0.id) \($0.kind) \($0.event?.code ?? "-") \($0.event?.magnitude ?? 0)"
        + ($0.mergedInto.map { " into \($0)" } ?? "")
    }
  }
}
