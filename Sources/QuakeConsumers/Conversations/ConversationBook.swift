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
  /// The last transaction of which it has seen the end.
  package private(set) var token: ChangeToken
  /// The conversations that are not closed.
  var conversations: [String: Conversation] = [:]
  /// The conversation of each event of `conversations`.
  var conversationOfEvent: [String: String] = [:]
  var events = TransactionEvents()
  /// The conversations that differ from what is stored; nil: it is to be deleted.
  private(set) var unstored: [String: Conversation?] = [:]
  private var soonest: Timestamp?
  private var isSoonestKnown = false

  /// A book with what was stored.
  ///
  /// - Parameters:
  ///   - conversations: All that are not closed.
  ///   - token: The last transaction that was decided.
  package init(
    rule: AlertRule, conversations: [Conversation], after token: ChangeToken,
    source: any ConversationSource
  ) {
    self.rule = rule
    holding = rule.holding
    returning = rule.returning
    self.source = source
    self.token = token
    for conversation in conversations where conversation.state != .closed {
      self.conversations[conversation.id] = conversation
      for code in conversation.codes { conversationOfEvent[code] = conversation.id }
    }
  }

  // MARK: - Changes

  /// Takes a change of the transaction that `end(of:)` ends.
  package mutating func take(_ change: Change) {
    guard change.op != .truncate, let code = change.code else { return events.truncate() }
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
  private func concerns(_ change: Change, _ code: String, _ at: Timestamp) -> Bool {
    let (former, successor) = (change.old?.supersededBy, change.new?.supersededBy)
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
    if !events.isEmpty {
      alerts += try decide(transaction)
      events.removeAll()
    }
    token = transaction.token
    return alerts
  }

  // MARK: - Time

  /// When the next wait is over; nil if nothing waits.
  package var nextDue: Timestamp? {
    isSoonestKnown ? soonest : conversations.values.lazy.compactMap(\.dueAt).min()
  }

  /// Decides what is due at a time, by which everything up to it has been taken.
  ///
  /// - Throws: What the source throws.
  package mutating func advance(to time: Timestamp) throws -> [Alert] {
    var alerts: [Alert] = []
    while true {
      soonest = nextDue
      isSoonestKnown = true
      guard let due = soonest, due <= time else { break }
      let next = conversations.values.filter { $0.dueAt == due }.min { $0.age < $1.age }
      guard let next else { break }
      if let alert = try settle(next, at: due) { alerts.append(alert) }
    }
    return alerts
  }

  private mutating func settle(_ conversation: Conversation, at due: Timestamp) throws -> Alert? {
    let event = try source.event(conversation.code, after: token)
    guard conversation.state == .waiting else {
      return tell(.closed, conversation, event, token: token, at: due)
    }
    guard let event, Self.isShown(event),
      opens(event, at: conversation.passedAt, except: conversation.id)
    else {
      remove(conversation)
      return nil
    }
    return tell(.opened, conversation, event, token: token, at: due)
  }

  // MARK: - What has changed

  /// What differs from the last call: the conversations to be stored, the oldest first, and the ids of those to be
  /// deleted.
  ///
  /// An event is in one conversation: it leaves that in which it is stored. A conversation without events keeps its row.
  package mutating func takeUnstored() -> (changed: [Conversation], removed: [String]) {
    defer { unstored.removeAll() }
    var changed = unstored.values.compactMap { $0 }.sorted { $0.age < $1.age }
    // An event can have moved out of a closed conversation, which is not in memory any more.
    var codes = Set(changed.lazy.filter { $0.state != .closed }.flatMap(\.codes))
    for index in changed.indices.reversed() where changed[index].state == .closed {
      changed[index].codes.subtract(codes)
      codes.formUnion(changed[index].codes)
    }
    return (changed, unstored.filter { $0.value == nil }.map(\.key).sorted())
  }

  // MARK: - Steps of a conversation

  /// Makes the next message of a conversation.
  mutating func tell(
    _ kind: Message.Kind, _ conversation: Conversation, _ event: EventRecord?, token: ChangeToken,
    at: Timestamp, mergedInto: Conversation? = nil
  ) -> Alert {
    var next = conversation
    next.messages += 1
    next.toldAt = at
    if let event, mergedInto == nil { next.told = Alert.Told(event) }
    switch kind {
    case .closed: next.state = .closed
    case .retracted: next.state = mergedInto == nil ? .retracted : .closed
    default: next.state = .open
    }
    next.dueAt = next.state == .closed ? nil : rule.end(of: next.told?.time, at: at)
    store(next)
    return Alert(
      kind: kind, conversation: next.id, number: next.messages, event: event,
      told: conversation.told, token: token, at: at, mergedInto: mergedInto?.id,
      isAfterRetraction: conversation.state == .retracted)
  }

  /// Notes a conversation as it is now.
  mutating func store(_ conversation: Conversation) {
    let before = conversations[conversation.id]
    for code in before?.codes ?? [] where conversationOfEvent[code] == conversation.id {
      conversationOfEvent[code] = nil
    }
    unstored[conversation.id] = .some(conversation)
    isSoonestKnown = false
    guard conversation.state != .closed else {
      conversations[conversation.id] = nil
      return
    }
    conversations[conversation.id] = conversation
    for code in conversation.codes {
      if let other = conversationOfEvent.updateValue(conversation.id, forKey: code),
        conversations[other]?.codes.remove(code) != nil
      {
        unstored[other] = conversations[other]
      }
    }
  }

  /// Forgets a conversation of which nothing was told.
  mutating func remove(_ conversation: Conversation) {
    for code in conversation.codes where conversationOfEvent[code] == conversation.id {
      conversationOfEvent[code] = nil
    }
    conversations[conversation.id] = nil
    unstored[conversation.id] = .some(nil)
    isSoonestKnown = false
  }

  /// Whether an event that passes is told for the first time.
  func opens(_ event: EventRecord, at moment: Timestamp, except id: String? = nil) -> Bool {
    guard rule.filter.accepts(event, at: moment), rule.isTold(event, at: moment) else {
      return false
    }
    guard rule.quietsAftershocks || rule.isNewestOnly else { return true }
    for (other, conversation) in conversations where other != id && conversation.state == .open {
      guard let told = conversation.told else { continue }
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
