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
  private(set) var events: [String: EventRecord] = [:]
  /// The events after each transaction.
  private var states: [[String: EventRecord]] = [[:]]
  /// The rows of the tables.
  private(set) var stored: [String: Conversation] = [:]
  private(set) var alerts: [Alert] = []
  private(set) var faults: [String] = []
  /// Whether the last transaction removed all events.
  private(set) var wasTruncated = false
  /// What the transaction under way has done so far.
  private var changes:
    [(op: ChangeOperation, code: String?, old: EventRecord?, new: EventRecord?)] =
      []

  init(_ rule: AlertRule) {
    self.rule = rule
    book = ConversationBook(
      rule: rule, conversations: [], after: .beginning, source: EmptySource())
    restart()
  }

  private struct EmptySource: ConversationSource {
    func event(_ code: String, after token: ChangeToken) -> EventRecord? { nil }
    func closedConversation(of code: String) -> Conversation? { nil }
  }

  func event(_ code: String, after token: ChangeToken) -> EventRecord? {
    states[Int(token.number)][code]
  }

  func closedConversation(of code: String) -> Conversation? {
    stored.values.first { $0.state == .closed && $0.codes.contains(code) }
  }

  var token: ChangeToken { Self.token(states.count - 1) }

  private static func token(_ number: Int) -> ChangeToken {
    number == 0 ? .beginning : ChangeToken(number: Int64(number), nonce: "0000beef") ?? .beginning
  }

  /// Makes the book anew from what it has stored.
  func restart() {
    book = ConversationBook(
      rule: rule, conversations: stored.values.filter { $0.state != .closed }, after: token,
      source: self)
  }

  // MARK: - A transaction

  func put(_ event: EventRecord) {
    let code = event.code ?? ""
    let old = events[code]
    guard old != event else { return }
    changes.append((old == nil ? .insert : .update, code, old, event))
    events[code] = event
  }

  func edit(_ code: String, _ edit: (inout EventRecord) -> Void) {
    if let event = events[code] { put(event.with(edit)) }
  }

  func delete(_ code: String) {
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
      var next: [String: [Int]] = [:]
      for number in changes.indices { next[changes[number].code ?? "", default: []].append(number) }
      numbers = numbers.map { next[changes[$0].code ?? "", default: []].removeFirst() }
    }
    wasTruncated = changes.contains { $0.op == .truncate }
    let all = numbers.enumerated().map { position, number in
      let change = changes[number]
      return Change(
        transaction: transaction, position: Int64(position), op: change.op, code: change.code,
        changed: [], old: change.old, new: change.new)
    }
    changes = []
    if let cut {
      for change in all.prefix(cut) { book.take(change) }
      restart()
    }
    states.append(events)
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
    let (changed, removed) = book.takeUnstored()
    for id in removed { stored[id] = nil }
    // As in the table, an event is in one conversation.
    for conversation in changed {
      for other in stored.values where other.id != conversation.id {
        stored[other.id]?.codes.subtract(conversation.codes)
      }
      stored[conversation.id] = conversation
    }
    let codes = changed.flatMap(\.codes)
    if Set(codes).count != codes.count { faults.append("an event is in two conversations") }
  }

  // MARK: - What is shown

  /// The event that is shown in place of one in a state; nil if none is.
  static func shown(_ code: String, in events: [String: EventRecord]) -> EventRecord? {
    var next = code
    for _ in 0..<100 {
      guard let event = events[next] else { return nil }
      guard let successor = event.supersededBy else {
        return event.withdrawnAt == nil ? event : nil
      }
      next = successor
    }
    return nil
  }

  /// The last code of the chain of events that supersede one another; it need not exist.
  static func end(of code: String, in events: [String: EventRecord]) -> String? {
    var next = code
    for _ in 0..<100 {
      guard let successor = events[next]?.supersededBy else { return next }
      next = successor
    }
    return nil
  }

  /// The events before the last transaction.
  var before: [String: EventRecord] { states.count > 1 ? states[states.count - 2] : [:] }
}
