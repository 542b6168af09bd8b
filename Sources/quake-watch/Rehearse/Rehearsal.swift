import Basics
import QuakeConsumers
import QuakeModel

/// What one consumer is told in a rehearsal.
struct Rehearsal {
  private let configuration: ConsumerConfiguration
  private let from: Timestamp
  private let to: Timestamp
  private var book: ConversationBook?
  private let closed: ClosedConversations
  private(set) var report: RehearsalReport

  /// - Parameters:
  ///   - from: Messages from then on count.
  ///   - token: The transaction after which the changes begin. What they tell before `from` does not count.
  init(
    _ configuration: ConsumerConfiguration, from: Timestamp, to: Timestamp,
    after token: ChangeToken,
    events: RecordedEvents
  ) {
    self.configuration = configuration
    self.from = from
    self.to = to
    let closed = ClosedConversations(events, keptFor: configuration.rule?.closesAfter ?? .zero)
    self.closed = closed
    book = configuration.rule.map {
      ConversationBook(
        rule: $0, conversations: [], after: HistoryCursor(token: token), source: closed)
    }
    report = RehearsalReport(
      consumer: configuration.name, from: from, to: to,
      threshold: configuration.rule?.filter.minimumMagnitude,
      tellsEarthquakes: configuration.rule != nil)
  }

  /// Takes a change, and decides at the end of its transaction.
  mutating func take(_ change: Change) throws {
    guard book != nil else {
      if change.transaction.at >= from, configuration.filter.accepts(change) {
        report.count(change)
      }
      return
    }
    if let alerts = try book?.alerts(after: change) { count(alerts) }
  }

  /// Decides what becomes due until the end.
  mutating func end() throws {
    let end = to
    let alerts = try book?.advance(to: end) ?? []
    count(alerts)
  }

  private mutating func count(_ alerts: [Alert]) {
    for alert in alerts { report.count(alert, counts: alert.at >= from) }
    if let changed = book?.takeUnstored().changed {
      for conversation in changed where conversation.state == .closed { closed.add(conversation) }
    }
  }
}

/// The closed conversations of a rehearsal, as long as an event of theirs could begin another one.
private final class ClosedConversations: ConversationSource {
  private let events: RecordedEvents
  private let kept: Duration
  private var conversations: [String: Conversation] = [:]
  private var conversationOfEvent: [EventCode: String] = [:]
  /// When each was closed, the earliest first.
  private var order: [(id: String, at: Timestamp)] = []
  private var gone = 0

  init(_ events: RecordedEvents, keptFor kept: Duration) {
    self.events = events
    self.kept = kept
  }

  func events(
    _ codes: [EventCode], after token: ChangeToken
  ) throws -> [EventCode: EventRecord] {
    try events.events(codes, after: token)
  }

  func closedConversations(of codes: [EventCode]) -> [Conversation] {
    Set(codes.compactMap { conversationOfEvent[$0] }).compactMap { conversations[$0] }
  }

  func add(_ conversation: Conversation) {
    if let before = conversations.updateValue(conversation, forKey: conversation.id) {
      for code in before.codes where conversationOfEvent[code] == conversation.id {
        conversationOfEvent[code] = nil
      }
    } else {
      order.append((conversation.id, conversation.dueAt))
    }
    for code in conversation.codes { conversationOfEvent[code] = conversation.id }
    guard let now = order.last?.at.microseconds else { return }
    // Twice as long, because the origin time of an event can be revised.
    while gone < order.count,
      order[gone].at.microseconds < now - 2 * min(kept.wholeMicroseconds, Int64.max / 4)
    {
      for code in conversations.removeValue(forKey: order[gone].id)?.codes ?? []
      where conversationOfEvent[code] == order[gone].id {
        conversationOfEvent[code] = nil
      }
      gone += 1
    }
    if gone > 1000 {
      order.removeFirst(gone)
      gone = 0
    }
  }
}
