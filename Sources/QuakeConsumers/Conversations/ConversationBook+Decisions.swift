internal import QuakeModel

extension ConversationBook {
  /// Which events are which earthquake after a transaction.
  ///
  /// An earthquake is known by the event at the end of the chain of those that supersede one another, whether or not
  /// lists show it.
  private struct Identities {
    /// The conversations concerned, the oldest first.
    var conversations: [String] = []
    /// The event that each of them is about now.
    var end: [String: String] = [:]
    /// The ends of the changed events and of the conversations, in the order of the changes.
    var ends: [String] = []
    /// The changed events that lead to each end.
    var leading: [String: [String]] = [:]
    /// The conversation that a changed event belonged to before.
    var before: [String: String] = [:]

    mutating func note(_ code: String) {
      if leading.updateValue(leading[code] ?? [], forKey: code) == nil { ends.append(code) }
    }
  }

  /// Decides what the changes of a transaction mean.
  mutating func decide(_ transaction: ChangeTransaction) throws -> [Alert] {
    let identities = try identify(transaction)
    try leave(identities, transaction)
    var alerts: [Alert] = []
    for end in identities.ends {
      let event = try event(end, transaction)
      let these = identities.conversations.filter { identities.end[$0] == end }
        .compactMap { conversations[$0] }
      if these.isEmpty {
        if let event, let alert = try begin(event, end, identities, transaction) {
          alerts.append(alert)
        }
      } else {
        alerts += resume(these, event, end, identities, transaction)
      }
    }
    return alerts
  }

  // MARK: - The store after the transaction

  private mutating func event(
    _ code: String, _ transaction: ChangeTransaction
  ) throws -> EventRecord? {
    try events.event(code) { [source] in try source.event($0, after: transaction.token) }
  }

  private mutating func end(
    of code: String, _ transaction: ChangeTransaction
  ) throws -> String? {
    try events.end(of: code) { [source] in try source.event($0, after: transaction.token) }
  }

  private mutating func isShown(_ code: String, _ transaction: ChangeTransaction) throws -> Bool {
    try event(code, transaction).map(Self.isShown) ?? false
  }

  static func isShown(_ event: EventRecord) -> Bool {
    !event.has(.supersededBy) && !event.has(.withdrawnAt)
  }

  // MARK: - Who is who

  /// Finds out which conversations the changes concern, and which event each is about now.
  private mutating func identify(_ transaction: ChangeTransaction) throws -> Identities {
    var identities = Identities()
    var concerned = Set(events.isTruncated ? Array(conversations.keys) : [])
    for code in events.codes {
      if let id = try formerConversation(of: code, transaction) ?? conversationOfEvent[code] {
        identities.before[code] = id
        concerned.insert(id)
      }
      if let id = conversationOfEvent[code] { concerned.insert(id) }
      guard let end = try end(of: code, transaction) else { continue }
      identities.note(end)
      identities.leading[end, default: []].append(code)
      if let id = conversationOfEvent[end] { concerned.insert(id) }
    }
    let sorted = concerned.compactMap { conversations[$0] }.sorted { $0.age < $1.age }
    identities.conversations = sorted.map(\.id)
    for conversation in sorted {
      let end = try end(of: conversation, identities, transaction)
      identities.end[conversation.id] = end
      identities.note(end)
    }
    return identities
  }

  /// The event that a conversation is about now.
  private mutating func end(
    of conversation: Conversation, _ identities: Identities, _ transaction: ChangeTransaction
  ) throws -> String {
    // The event of an open conversation is shown, until it is changed.
    let mayDiffer =
      events.isTruncated || events.has(conversation.code) || conversation.state == .retracted
    guard mayDiffer else { return conversation.code }
    let own = try end(of: conversation.code, transaction) ?? conversation.code
    if try isShown(own, transaction) { return own }
    // Another event of the earthquake takes the place of one that is gone.
    for code in events.codes where identities.before[code] == conversation.id {
      if let end = try end(of: code, transaction), try isShown(end, transaction) { return end }
    }
    return own
  }

  /// The conversation about the event that superseded one before the transaction.
  private mutating func formerConversation(
    of code: String, _ transaction: ChangeTransaction
  ) throws -> String? {
    var next = events.former(code)
    for _ in 0..<TransactionEvents.longestChain {
      guard let former = next else { return nil }
      // The last one of the chain counts, where there are several.
      let beyond =
        try events.has(former)
        ? events.former(former) : event(former, transaction)?.supersededBy
      guard beyond != nil else { return conversationOfEvent[former] }
      next = beyond
    }
    return nil
  }

  /// Takes events out of conversations that are about another event now: the source, or a person, has split them.
  private mutating func leave(
    _ identities: Identities, _ transaction: ChangeTransaction
  ) throws {
    for end in identities.ends {
      for code in identities.leading[end] ?? [] {
        guard let id = conversationOfEvent[code], var conversation = conversations[id],
          identities.end[id] != end
        else { continue }
        // An event that leads nowhere stays, unless another conversation has that end.
        guard try isShown(end, transaction) || identities.end.values.contains(end) else { continue }
        conversation.codes.remove(code)
        store(conversation)
      }
    }
  }

  // MARK: - Beginning

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
    let split = (identities.leading[code] ?? []).filter { identities.before[$0] != nil }
    let conversation = Conversation(
      id: "\(transaction.token)-\(position)", code: code, codes: Set(split).union([code]),
      state: .waiting, passedAt: transaction.at,
      dueAt: transaction.at.advanced(by: rule.settle))
    guard rule.settle > .zero else {
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
      guard candidate != code, let end = try end(of: candidate, transaction), end != code,
        try isShown(end, transaction)
      else { return closed }
    }
    return nil
  }

  // MARK: - Going on

  /// Goes on with the conversations about an earthquake, which are one from now on.
  private mutating func resume(
    _ these: [Conversation], _ event: EventRecord?, _ code: String, _ identities: Identities,
    _ transaction: ChangeTransaction
  ) -> [Alert] {
    // What was told comes before what waits.
    guard let first = these.first(where: { $0.messages > 0 }) ?? these.first else { return [] }
    var merged: [Alert] = []
    var next = first
    next.code = code
    next.codes.insert(code)
    next.codes.formUnion((identities.leading[code] ?? []).filter { identities.before[$0] != nil })
    for var other in these where other.id != first.id {
      next.codes.formUnion(other.codes)
      guard other.messages > 0 else {
        remove(other)
        continue
      }
      other.codes = []
      merged.append(
        tell(
          .retracted, other, event, token: transaction.token, at: transaction.at, mergedInto: first)
      )
    }
    if next != first { store(next) }
    let shown = event.flatMap { Self.isShown($0) ? $0 : nil }
    guard let kind = step(of: next, shown, in: transaction) else { return merged }
    return [tell(kind, next, event, token: transaction.token, at: transaction.at)] + merged
  }

  /// What is told of an earthquake that a conversation knows.
  ///
  /// - Parameter shown: The event; nil if there is none any more.
  private mutating func step(
    of conversation: Conversation, _ shown: EventRecord?, in transaction: ChangeTransaction
  ) -> Message.Kind? {
    switch conversation.state {
    case .closed: return nil
    case .waiting:
      if !(shown.map(returning.accepts) ?? false) { remove(conversation) }
      return nil
    case .retracted: return shown.map(returning.accepts) ?? false ? .updated : nil
    case .open:
      guard let shown, holding.accepts(shown) else { return .retracted }
      guard let told = conversation.told else { return .updated }
      return rule.differs(shown, from: told, in: transaction) ? .updated : nil
    }
  }
}
