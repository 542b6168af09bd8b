package import QuakeModel

/// The conversations of one consumer: takes the changes of the history, and decides what is told.
///
/// It has neither a clock nor a connection. The same changes give the same alerts, wherever they are interrupted and
/// the book is made anew from what was stored: time is the commit time of the transactions, and the end of a wait is
/// told as of the moment at which it was due. Closed conversations are not in memory; their number only grows.
///
/// After an error of its source a book is of no use. Make another one from what is stored.
package struct ConversationBook {
  let rule: AlertRule
  let holding: EventFilter
  let returning: EventFilter
  let source: any ConversationSource
  /// Whether a message is told. If the first one of a conversation is not, the others are not either.
  private let admits: (Alert) -> Bool
  /// Up to where the changes were decided. What the next ones bring is made again if a consumer begins there.
  package private(set) var cursor: HistoryCursor
  /// The conversations that are not closed.
  private(set) var conversations: [String: Conversation] = [:]
  /// The conversation of each event of `conversations`.
  private(set) var conversationOfEvent: [EventCode: String] = [:]
  var events = TransactionEvents()
  /// The conversations that differ from what is stored.
  private(set) var unstored: [String: Conversation] = [:]
  /// How conversations were before what has changed them.
  private var past: [PastConversation] = []
  /// The transaction of the last of them by conversation.
  private var newestPast: [String: Int64] = [:]
  private var soonest: Timestamp?
  private var isSoonestKnown = false

  /// A book with what was stored.
  ///
  /// - Parameters:
  ///   - conversations: All that are not closed.
  ///   - cursor: Up to where the changes were decided.
  ///   - admits: Is called with each message in turn, and says whether it is told; later ones of a conversation are
  ///     `isMuted` if its first one was not.
  package init(
    rule: AlertRule, conversations: [Conversation], after cursor: HistoryCursor,
    source: any ConversationSource, admits: @escaping (Alert) -> Bool = { _ in true }
  ) {
    self.rule = rule
    holding = rule.holding
    returning = rule.returning
    self.source = source
    self.admits = admits
    self.cursor = cursor
    for conversation in conversations where conversation.state != .closed {
      self.conversations[conversation.id] = conversation
      for code in conversation.codes { conversationOfEvent[code] = conversation.id }
    }
  }

  /// The last transaction that was decided.
  package var token: ChangeToken { cursor.token }

  // MARK: - Changes

  /// Takes the next change, and decides after the last one of its transaction.
  ///
  /// - Returns: What is told; nil: the transaction goes on.
  /// - Throws: What the source throws.
  package mutating func alerts(after change: Change) throws -> [Alert]? {
    take(change)
    guard change.position + 1 == change.transaction.changeCount else { return nil }
    return try end(of: change.transaction)
  }

  /// Takes a change of the transaction that `end(of:)` ends.
  package mutating func take(_ change: Change) {
    guard change.op != .truncate, let text = change.code else { return events.truncate() }
    let code = EventCode(text)
    let at = change.transaction.at
    let passes = change.new.map { isNew($0, at: at) } ?? false
    guard passes || events.has(code) || concerns(change, code, at) else { return }
    events.take(change, of: code, passes: passes)
  }

  /// Whether an event may begin a conversation.
  func isNew(_ event: EventRecord, at moment: Timestamp) -> Bool {
    Self.isShown(event) && rule.filter.accepts(event, at: moment) && !rule.isOver(event, at: moment)
  }

  /// Whether a change of an event that does not pass matters to a conversation.
  private func concerns(_ change: Change, _ code: EventCode, _ at: Timestamp) -> Bool {
    let (former, successor) = (change.old?.successor, change.new?.successor)
    if conversationOfEvent[code] != nil {
      // Other values of an event that is not shown change nothing.
      return change.op != .update || successor == nil || former != successor
    }
    // What supersedes it, or did, tells which earthquake another event is.
    guard former != successor, let event = change.new ?? change.old else { return false }
    return !rule.isOver(event, at: at)
  }

  /// Decides at the end of a transaction, when all its changes have been taken, and of what became due before it.
  ///
  /// - Throws: What the source throws.
  package mutating func end(of transaction: ChangeTransaction) throws -> [Alert] {
    var alerts = try advance(to: transaction.at)
    cursor = HistoryCursor(token: transaction.token)
    if !events.isEmpty {
      alerts += try decide(transaction)
      events.removeAll()
    }
    return alerts
  }

  // MARK: - Time

  /// When the next wait is over; nil if nothing waits.
  package var nextDue: Timestamp? {
    isSoonestKnown ? soonest : conversations.values.lazy.map(\.dueAt).min()
  }

  /// A conversation whose time is over. Of one moment, the strongest earthquake comes first, as within a transaction.
  private struct Due: Comparable {
    let at: Timestamp
    /// The negative magnitude.
    let weakness: Double
    let age: Conversation.Age
    let id: String

    init(_ conversation: Conversation, _ event: EventRecord?) {
      at = conversation.dueAt
      weakness = -(event?.magnitude ?? -.infinity)
      age = conversation.age
      id = conversation.id
    }

    static func < (a: Due, b: Due) -> Bool { (a.at, a.weakness, a.age) < (b.at, b.weakness, b.age) }
  }

  /// Decides what is due at a time. Everything that was committed by then must have been taken: ask
  /// `DatabaseClock.completeTime` for the time, read the history to its end, and take what has come.
  ///
  /// - Throws: What the source throws.
  package mutating func advance(to time: Timestamp) throws -> [Alert] {
    soonest = nextDue
    isSoonestKnown = true
    guard let soonest, soonest <= time else { return [] }
    var alerts: [Alert] = []
    let over = conversations.values.filter { $0.dueAt <= time }
    let events = try source.events(over.map(\.code).sorted(), after: token)
    var queue = Heap<Due>()
    for conversation in over { queue.insert(Due(conversation, events[conversation.code])) }
    while let due = queue.first {
      queue.removeFirst()
      guard let conversation = conversations[due.id] else { continue }
      if let alert = settle(conversation, events[conversation.code]) { alerts.append(alert) }
      // What is opened late may be over as well.
      if let next = conversations[due.id], next.dueAt <= time {
        queue.insert(Due(next, events[next.code]))
      }
    }
    return alerts
  }

  private mutating func settle(_ conversation: Conversation, _ event: EventRecord?) -> Alert? {
    let due = conversation.dueAt
    guard conversation.state == .waiting else {
      if rule.tellsClosed { return tell(.closed, conversation, event, at: due) }
      close(conversation, at: due)
      return nil
    }
    guard let event, Self.isShown(event),
      opens(event, at: conversation.passedAt, except: conversation.id)
    else {
      remove(conversation, at: due)
      return nil
    }
    return tell(.opened, conversation, event, at: due)
  }

  // MARK: - What has changed

  /// The conversations to be stored, the oldest first, and how they were before.
  package typealias Unstored = (changed: [Conversation], past: [PastConversation])

  /// What differs from the last call. An event is in one conversation.
  package mutating func takeUnstored() -> Unstored {
    defer {
      unstored.removeAll()
      past.removeAll()
      newestPast.removeAll()
    }
    return (unstored.values.sorted { $0.age < $1.age }, past)
  }

  // MARK: - Steps of a conversation

  /// Makes the next message of a conversation.
  ///
  /// - Returns: nil if it is not told.
  mutating func tell(
    _ kind: Message.Kind, _ conversation: Conversation, _ event: EventRecord?, at: Timestamp,
    mergedInto: Conversation? = nil
  ) -> Alert? {
    var next = conversation
    next.messages += 1
    next.toldAt = at
    if let event, mergedInto == nil { next.told = Alert.Told(event) }
    let alert = Alert(
      kind: kind, conversation: next.id, number: next.messages, event: event,
      told: conversation.told, token: token, at: at, mergedInto: mergedInto?.id,
      isAfterRetraction: conversation.state == .retracted, isMuted: conversation.isMuted)
    let isTold = admits(alert)
    if kind == .opened { next.isMuted = !isTold }
    switch kind {
    case .closed: close(next, at: at)
    case .retracted where mergedInto != nil: close(next, at: at)
    default:
      next.state = kind == .retracted ? .retracted : .open
      next.dueAt = rule.end(of: next.told?.time, at: at)
      store(next)
    }
    return isTold ? alert : nil
  }

  private mutating func close(_ conversation: Conversation, at: Timestamp) {
    var closed = conversation
    closed.state = .closed
    closed.dueAt = at.advanced(by: Conversation.keptAfterClosing)
    store(closed)
  }

  /// Ends a conversation of which nothing was told: the earthquake may begin another one.
  mutating func remove(_ conversation: Conversation, at: Timestamp) {
    var empty = conversation
    empty.codes = []
    close(empty, at: at)
  }

  /// Notes a conversation as it is now.
  ///
  /// - Parameter before: How it was, if it was closed.
  mutating func store(_ conversation: Conversation, before: Conversation? = nil) {
    let before = conversations[conversation.id] ?? before
    note(before)
    for code in before?.codes ?? [] where conversationOfEvent[code] == conversation.id {
      conversationOfEvent[code] = nil
    }
    unstored[conversation.id] = conversation
    isSoonestKnown = false
    guard conversation.state != .closed else {
      conversations[conversation.id] = nil
      return
    }
    conversations[conversation.id] = conversation
    for code in conversation.codes {
      guard let id = conversationOfEvent.updateValue(conversation.id, forKey: code),
        var other = conversations[id], other.codes.contains(code)
      else { continue }
      note(other)
      other.codes.remove(code)
      conversations[id] = other
      unstored[id] = other
    }
  }

  /// Takes note of a conversation that changes; one that has begun with this transaction was nothing before.
  private mutating func note(_ before: Conversation?) {
    guard let before, before.age.transaction != token.number,
      newestPast.updateValue(token.number, forKey: before.id) != token.number
    else { return }
    past.append(PastConversation(token: token, conversation: before))
  }

  /// Whether an event that passes is told for the first time.
  func opens(_ event: EventRecord, at moment: Timestamp, except id: String? = nil) -> Bool {
    guard rule.filter.accepts(event, at: moment), rule.isTold(event, at: moment) else {
      return false
    }
    guard rule.quietsAftershocks || rule.isNewestOnly else { return true }
    for (other, conversation) in conversations where other != id && conversation.state == .open {
      guard !conversation.isMuted, let told = conversation.told else { continue }
      if rule.quietsAftershocks, let zone = AftershockZone(of: told), zone.quiets(event) {
        return false
      }
      if rule.isNewestOnly, let time = told.time, event.time.map({ $0 < time }) ?? false {
        return false
      }
    }
    return true
  }
}
