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
  private let holding: EventFilter
  private let returning: EventFilter
  private let source: any ConversationSource
  /// The last transaction of which it has seen the end.
  package private(set) var token: ChangeToken
  /// The conversations that are not closed.
  private var conversations: [String: Conversation] = [:]
  /// The conversation of each event of `conversations`.
  private var conversationOfEvent: [String: String] = [:]
  private var events = TransactionEvents()
  /// The conversations that differ from what is stored; nil: it is to be deleted.
  private var unstored: [String: Conversation?] = [:]
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
  private func isNew(_ event: EventRecord, at moment: Timestamp) -> Bool {
    !event.has(.supersededBy) && !event.has(.withdrawnAt)
      && rule.filter.accepts(event, at: moment) && !rule.isOver(event, at: moment)
  }

  /// Whether a change of an event that does not pass matters to a conversation.
  private func concerns(_ change: Change, _ code: String, _ at: Timestamp) -> Bool {
    let (former, successor) = (change.old?.supersededBy, change.new?.supersededBy)
    if conversationOfEvent[code] != nil {
      // Other values of an event that is not shown change nothing.
      return change.op != .update || successor == nil || former != successor
    }
    guard let former, former != successor, let new = change.new else { return false }
    return conversationOfEvent[former] != nil && !rule.isOver(new, at: at)
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
    mutating get {
      if !isSoonestKnown {
        soonest = conversations.values.lazy.compactMap(\.dueAt).min()
        isSoonestKnown = true
      }
      return soonest
    }
  }

  /// Decides what is due at a time, by which everything up to it has been taken.
  ///
  /// - Throws: What the source throws.
  package mutating func advance(to time: Timestamp) throws -> [Alert] {
    var alerts: [Alert] = []
    while let due = nextDue, due <= time {
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
    guard let event, !event.has(.withdrawnAt), !event.has(.supersededBy),
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
  /// An event can have moved from one conversation to another. A conversation without events keeps its row.
  package mutating func takeUnstored() -> (changed: [Conversation], removed: [String]) {
    defer { unstored.removeAll() }
    return (
      unstored.values.compactMap { $0 }.sorted { $0.age < $1.age },
      unstored.filter { $0.value == nil }.map(\.key).sorted()
    )
  }

  // MARK: - Steps of a conversation

  /// Makes the next message of a conversation.
  private mutating func tell(
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
  private mutating func store(_ conversation: Conversation) {
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
    for code in conversation.codes { conversationOfEvent[code] = conversation.id }
  }

  /// Forgets a conversation of which nothing was told.
  private mutating func remove(_ conversation: Conversation) {
    for code in conversation.codes where conversationOfEvent[code] == conversation.id {
      conversationOfEvent[code] = nil
    }
    conversations[conversation.id] = nil
    unstored[conversation.id] = .some(nil)
    isSoonestKnown = false
  }

  /// Whether an event that passes is told for the first time.
  private func opens(_ event: EventRecord, at moment: Timestamp, except id: String? = nil) -> Bool {
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

// MARK: - The end of a transaction

extension ConversationBook {
  /// Which events are which earthquake after a transaction.
  private struct Identities {
    /// The event that each conversation concerned shows now; no value: none.
    var shown: [String: String] = [:]
    /// The conversations concerned, the oldest first.
    var conversations: [String] = []
    /// The events that the transaction makes or leaves shown, in the order of the changes.
    var events: [String] = []
    /// The changed events that lead to each event that is shown.
    var leading: [String: [String]] = [:]
    /// The conversation that an event belonged to before.
    var former: [String: String] = [:]
    /// The events that their conversation has lost, because it shows another one.
    var split: Set<String> = []
  }

  private mutating func decide(_ transaction: ChangeTransaction) throws -> [Alert] {
    var identities = try identify(transaction)
    leave(&identities)
    var alerts: [Alert] = []
    for id in identities.conversations where identities.shown[id] == nil {
      guard let conversation = conversations[id] else { continue }
      switch conversation.state {
      case .waiting: remove(conversation)
      case .open:
        let event = try event(conversation.code, transaction)
        alerts.append(
          tell(.retracted, conversation, event, token: transaction.token, at: transaction.at))
      case .retracted, .closed: break
      }
    }
    for code in identities.events {
      guard let event = try shown(code, transaction) else { continue }
      let these = identities.conversations.filter { identities.shown[$0] == code }
        .compactMap { conversations[$0] }
      if these.isEmpty {
        if let alert = try begin(event, code, identities, transaction) { alerts.append(alert) }
      } else {
        alerts += resume(these, event, code, identities, transaction)
      }
    }
    return alerts
  }

  private mutating func event(
    _ code: String, _ transaction: ChangeTransaction
  ) throws -> EventRecord? {
    if events.isTruncated, conversationOfEvent[code] != nil, !events.has(code) { return nil }
    return try events.event(code) { [source] in try source.event($0, after: transaction.token) }
  }

  private mutating func shown(
    _ code: String, _ transaction: ChangeTransaction
  ) throws -> EventRecord? {
    if events.isTruncated, conversationOfEvent[code] != nil, !events.has(code) { return nil }
    return try events.shown(insteadOf: code) { [source] in
      try source.event($0, after: transaction.token)
    }
  }

  /// Finds out which conversations the changes concern, and which event each shows now.
  private mutating func identify(_ transaction: ChangeTransaction) throws -> Identities {
    var identities = Identities()
    var concerned = Set(events.isTruncated ? Array(conversations.keys) : [])
    for code in events.codes {
      if let id = conversationOfEvent[code] {
        concerned.insert(id)
      } else if let id = try formerConversation(of: code, transaction) {
        identities.former[code] = id
        concerned.insert(id)
      }
      guard let event = try shown(code, transaction), let shown = event.code else { continue }
      if identities.leading[shown] == nil { identities.events.append(shown) }
      identities.leading[shown, default: []].append(code)
      if let id = conversationOfEvent[shown] { concerned.insert(id) }
    }
    let sorted = concerned.compactMap { conversations[$0] }.sorted { $0.age < $1.age }
    identities.conversations = sorted.map(\.id)
    for conversation in sorted {
      let hasMoved =
        events.isTruncated || events.has(conversation.code) || conversation.state == .retracted
      let code =
        hasMoved ? try shown(conversation.code, transaction)?.code : conversation.code
      guard let next = try code ?? successor(of: conversation, identities, transaction) else {
        continue
      }
      identities.shown[conversation.id] = next
      if identities.leading[next] == nil {
        identities.leading[next] = []
        identities.events.append(next)
      }
    }
    return identities
  }

  /// The event that takes the place of the one that a conversation showed.
  private mutating func successor(
    of conversation: Conversation, _ identities: Identities, _ transaction: ChangeTransaction
  ) throws -> String? {
    for code in events.codes {
      guard (conversationOfEvent[code] ?? identities.former[code]) == conversation.id else {
        continue
      }
      if let event = try shown(code, transaction) { return event.code }
    }
    return nil
  }

  /// The conversation of the event that superseded an event before the transaction.
  private mutating func formerConversation(
    of code: String, _ transaction: ChangeTransaction
  ) throws -> String? {
    var next = events.former(code)
    for _ in 0..<TransactionEvents.longestChain {
      guard let former = next else { return nil }
      if let id = conversationOfEvent[former] { return id }
      // Only an event that passes is worth reading others.
      guard events.passed(code) != nil else { return nil }
      next = try events.former(former) ?? event(former, transaction)?.supersededBy
    }
    return nil
  }

  /// Takes events out of conversations that show another event now: the source, or a person, has split them.
  private mutating func leave(_ identities: inout Identities) {
    for (shown, codes) in identities.leading {
      for code in codes {
        guard let id = conversationOfEvent[code], let conversation = conversations[id],
          let own = identities.shown[id], own != shown
        else { continue }
        var next = conversation
        next.codes.remove(code)
        store(next)
        identities.split.insert(code)
      }
    }
  }

  /// Begins a conversation about an event that belongs to none, if it passes.
  private mutating func begin(
    _ event: EventRecord, _ code: String, _ identities: Identities,
    _ transaction: ChangeTransaction
  ) throws -> Alert? {
    guard let position = events.passed(code), isNew(event, at: transaction.at),
      opens(event, at: transaction.at)
    else { return nil }
    if var closed = try closedConversation(of: event, code, identities, transaction) {
      if closed.codes.insert(code).inserted { store(closed) }
      return nil
    }
    let settles = rule.settle > .zero
    let codes = identities.split.intersection(identities.leading[code] ?? []).union([code])
    let conversation = Conversation(
      id: "\(transaction.token)-\(position)", code: code, codes: codes, state: .waiting,
      passedAt: transaction.at, dueAt: transaction.at.advanced(by: rule.settle))
    guard settles else {
      return tell(.opened, conversation, event, token: transaction.token, at: transaction.at)
    }
    store(conversation)
    return nil
  }

  /// The closed conversation about the earthquake of an event.
  private mutating func closedConversation(
    of event: EventRecord, _ code: String, _ identities: Identities,
    _ transaction: ChangeTransaction
  ) throws -> Conversation? {
    let leading = identities.leading[code] ?? []
    var candidates = [code] + leading
    candidates += leading.compactMap { events.former($0) }
    candidates += event.ids ?? []
    var seen: Set<String> = []
    for candidate in candidates where seen.insert(candidate).inserted {
      let closed = unstored.values.lazy.compactMap { $0 }.first {
        $0.state == .closed && $0.codes.contains(candidate)
      }
      guard let closed = try closed ?? source.closedConversation(of: candidate) else { continue }
      // An event may name ids of other sources, which are other events. One that is gone is the same.
      if candidate == code { return closed }
      let other = try shown(candidate, transaction)
      if other == nil || other?.code == code { return closed }
    }
    return nil
  }

  /// Goes on with the conversations about an earthquake, which are one from now on.
  private mutating func resume(
    _ these: [Conversation], _ event: EventRecord, _ code: String, _ identities: Identities,
    _ transaction: ChangeTransaction
  ) -> [Alert] {
    // What was told comes before what waits.
    guard let first = these.first(where: { $0.messages > 0 }) ?? these.first else { return [] }
    let others = these.filter { $0.id != first.id }
    var alerts: [Alert] = []
    var merged: [Alert] = []
    for other in others {
      guard other.messages > 0 else {
        remove(other)
        continue
      }
      var last = other
      last.codes = []
      merged.append(
        tell(
          .retracted, last, event, token: transaction.token, at: transaction.at, mergedInto: first))
    }
    var next = first
    next.code = code
    next.codes.insert(code)
    next.codes.formUnion(others.flatMap(\.codes))
    for leading in identities.leading[code] ?? []
    where identities.former[leading] == first.id || identities.split.contains(leading) {
      next.codes.insert(leading)
    }
    if next != first { store(next) }
    switch first.state {
    case .waiting:
      if !returning.accepts(event) { remove(next) }
    case .open where !holding.accepts(event):
      alerts.append(tell(.retracted, next, event, token: transaction.token, at: transaction.at))
    case .open:
      guard let told = next.told, rule.differs(event, from: told, in: transaction) else { break }
      alerts.append(tell(.updated, next, event, token: transaction.token, at: transaction.at))
    case .retracted:
      guard returning.accepts(event) else { break }
      alerts.append(tell(.updated, next, event, token: transaction.token, at: transaction.at))
    case .closed: break
    }
    return alerts + merged
  }
}
