internal import QuakeModel

extension ConversationBook {
  /// Which events are which earthquake after a transaction.
  ///
  /// An earthquake is known by the event at the end of the chain of those that supersede one another, whether or not
  /// lists show it.
  private struct Identities {
    /// The event that each of the conversations concerned is about now.
    var end: [String: EventCode] = [:]
    /// The conversations that are about each event now, the oldest first.
    var about: [EventCode: [String]] = [:]
    /// The ends of the changed events and of the conversations, in the order of the changes.
    var ends: [EventCode] = []
    /// The changed events that lead to each end.
    var leading: [EventCode: [EventCode]] = [:]
    /// The conversation that a changed event belonged to before.
    var before: [EventCode: String] = [:]
    /// The changed events that belonged to each conversation before.
    var members: [String: [EventCode]] = [:]

    mutating func note(_ code: EventCode) {
      if leading.updateValue(leading[code] ?? [], forKey: code) == nil { ends.append(code) }
    }

    /// The changed events that lead to an end and belonged to a conversation before.
    func known(_ end: EventCode) -> [EventCode] {
      (leading[end] ?? []).filter { before[$0] != nil }
    }
  }

  /// Closed conversations that a transaction may concern.
  private struct Closed {
    private var conversations: [String: Conversation] = [:]
    private var conversationOfEvent: [EventCode: String] = [:]

    subscript(code: EventCode) -> Conversation? {
      conversationOfEvent[code].flatMap { conversations[$0] }
    }

    mutating func note(_ conversation: Conversation) {
      for code in conversations[conversation.id]?.codes ?? [] { conversationOfEvent[code] = nil }
      conversations[conversation.id] = conversation
      for code in conversation.codes { conversationOfEvent[code] = conversation.id }
    }
  }

  /// An event that belongs to no conversation and passes. The strongest comes first: its aftershocks can be in the same
  /// transaction, before it.
  private struct Beginning: Comparable {
    let event: EventRecord
    let code: EventCode
    /// The position of the change by which it passed.
    let position: Int64

    static func < (a: Beginning, b: Beginning) -> Bool {
      let (one, other) = (a.event.magnitude ?? -.infinity, b.event.magnitude ?? -.infinity)
      return one == other ? a.position < b.position : one > other
    }
  }

  /// Decides what the changes of a transaction mean.
  mutating func decide(_ transaction: ChangeTransaction) throws -> [Alert] {
    let (source, token) = (source, token)
    try events.readChains { try source.events($0, after: token) }
    let identities = try identify()
    try leave(identities)
    var closed = try closed(identities, at: transaction.at)
    var alerts: [Alert] = []
    var new: [Beginning] = []
    for end in identities.ends {
      let event = try event(end)
      let these = (identities.about[end] ?? []).compactMap { conversations[$0] }
      if !these.isEmpty {
        alerts += resume(these, event, end, identities, transaction, &closed)
      } else if let event, let position = events.passed(end) {
        new.append(Beginning(event: event, code: end, position: position))
      }
    }
    for beginning in new.sorted() {
      if let alert = try begin(beginning, identities, at: transaction.at, &closed) {
        alerts.append(alert)
      }
    }
    return alerts
  }

  // MARK: - The store after the transaction

  private mutating func event(_ code: EventCode) throws -> EventRecord? {
    try events.event(code) { [source, token] in try source.events($0, after: token) }
  }

  private mutating func end(of code: EventCode) throws -> EventCode? {
    try events.end(of: code) { [source, token] in try source.events($0, after: token) }
  }

  private mutating func isShown(_ code: EventCode) throws -> Bool {
    try event(code).map(Self.isShown) ?? false
  }

  static func isShown(_ event: EventRecord) -> Bool {
    !event.has(.supersededBy) && !event.has(.withdrawnAt)
  }

  // MARK: - Who is who

  /// Finds out which conversations the changes concern, and which event each is about now.
  private mutating func identify() throws -> Identities {
    var identities = Identities()
    var concerned = Set(events.isTruncated ? Array(conversations.keys) : [])
    for code in events.codes {
      if let id = try formerConversation(of: code) ?? conversationOfEvent[code] {
        identities.before[code] = id
        identities.members[id, default: []].append(code)
        concerned.insert(id)
      }
      if let id = conversationOfEvent[code] { concerned.insert(id) }
      guard let end = try end(of: code) else { continue }
      identities.note(end)
      identities.leading[end, default: []].append(code)
      if let id = conversationOfEvent[end] { concerned.insert(id) }
    }
    for conversation in concerned.compactMap({ conversations[$0] }).sorted(by: { $0.age < $1.age })
    {
      let end = try end(of: conversation, identities)
      identities.end[conversation.id] = end
      identities.note(end)
      identities.about[end, default: []].append(conversation.id)
    }
    return identities
  }

  /// The event that a conversation is about now.
  private mutating func end(
    of conversation: Conversation, _ identities: Identities
  ) throws -> EventCode {
    // The event of an open conversation is shown, until it is changed.
    let mayDiffer =
      events.isTruncated || events.has(conversation.code) || conversation.state == .retracted
    guard mayDiffer else { return conversation.code }
    let own = try end(of: conversation.code) ?? conversation.code
    if try isShown(own) { return own }
    // Another event of the earthquake takes the place of one that is gone.
    for code in identities.members[conversation.id] ?? [] {
      if let end = try end(of: code), try isShown(end) { return end }
    }
    return own
  }

  /// The conversation about the event that superseded one before the transaction.
  private mutating func formerConversation(of code: EventCode) throws -> String? {
    var next = events.former(code)
    for _ in 0..<TransactionEvents.longestChain {
      guard let former = next else { return nil }
      // The last one of the chain counts, where there are several.
      let beyond = try events.has(former) ? events.former(former) : event(former)?.successor
      guard beyond != nil else { return conversationOfEvent[former] }
      next = beyond
    }
    return nil
  }

  /// Takes events out of conversations that are about another event now: the source, or a person, has split them.
  private mutating func leave(_ identities: Identities) throws {
    for end in identities.ends {
      for code in identities.leading[end] ?? [] {
        guard let id = conversationOfEvent[code], var conversation = conversations[id],
          identities.end[id] != end
        else { continue }
        // An event that leads nowhere stays, unless another conversation has that end.
        guard try isShown(end) || identities.about[end] != nil else { continue }
        conversation.codes.remove(code)
        store(conversation)
      }
    }
  }

  /// The closed conversations of events that the transaction may bring into others.
  private mutating func closed(
    _ identities: Identities, at moment: Timestamp
  ) throws -> Closed {
    var wanted: Set<EventCode> = []
    for end in identities.ends {
      if identities.about[end] != nil {
        wanted.formUnion(([end] + identities.known(end)).filter { conversationOfEvent[$0] == nil })
      } else if let event = try event(end), events.passed(end) != nil, isNew(event, at: moment) {
        wanted.formUnion(candidates(event, end, identities))
      }
    }
    var closed = Closed()
    guard !wanted.isEmpty else { return closed }
    for conversation in try source.closedConversations(of: wanted.sorted())
    where unstored[conversation.id] == nil {
      closed.note(conversation)
    }
    for conversation in unstored.values where conversation.state == .closed {
      closed.note(conversation)
    }
    return closed
  }

  // MARK: - Beginning

  /// The events whose conversation is that of an event which passes.
  private func candidates(
    _ event: EventRecord, _ code: EventCode, _ identities: Identities
  ) -> [EventCode] {
    let leading = identities.leading[code] ?? []
    return [code] + leading + leading.compactMap { events.former($0) }
      + (event.ids ?? []).map { EventCode($0) }
  }

  /// Begins a conversation about an event that belongs to none, if it still passes.
  private mutating func begin(
    _ beginning: Beginning, _ identities: Identities, at moment: Timestamp,
    _ closed: inout Closed
  ) throws -> Alert? {
    let (event, code) = (beginning.event, beginning.code)
    guard isNew(event, at: moment), opens(event, at: moment) else { return nil }
    for candidate in candidates(event, code, identities) {
      guard let before = closed[candidate] else { continue }
      // An event may name ids of other sources, which are other events. One that is gone is the same.
      if candidate != code, let end = try end(of: candidate), end != code, try isShown(end) {
        continue
      }
      var conversation = before
      if conversation.codes.insert(code).inserted {
        store(conversation, before: before)
        closed.note(conversation)
      }
      return nil
    }
    let conversation = Conversation(
      id: "\(token)-\(beginning.position)", code: code,
      codes: Set(identities.known(code)).union([code]), state: .waiting, passedAt: moment,
      dueAt: moment.advanced(by: rule.settle))
    guard rule.settle > .zero else { return tell(.opened, conversation, event, at: moment) }
    store(conversation)
    return nil
  }

  // MARK: - Going on

  /// Goes on with the conversations about an earthquake, which are one from now on.
  private mutating func resume(
    _ these: [Conversation], _ event: EventRecord?, _ code: EventCode, _ identities: Identities,
    _ transaction: ChangeTransaction, _ closed: inout Closed
  ) -> [Alert] {
    // What was told comes before what was dropped, and that before what waits.
    let oldest =
      these.first { $0.isTold } ?? these.first { $0.messages > 0 } ?? these.first
    guard let first = oldest else { return [] }
    var next = first
    next.code = code
    next.codes.formUnion([code] + identities.known(code))
    for other in these { next.codes.formUnion(other.codes) }
    for code in next.codes {
      guard let before = closed[code] else { continue }
      var other = before
      other.codes.remove(code)
      store(other, before: before)
      closed.note(other)
    }
    if next != first { store(next) }
    let shown = event.flatMap { Self.isShown($0) ? $0 : nil }
    let isOpen = these.contains { $0.isTold && $0.state == .open }
    var alerts: [Alert] = []
    if let kind = step(of: next, shown, isOpen: isOpen, in: transaction),
      let alert = tell(kind, next, event, at: transaction.at)
    {
      alerts.append(alert)
    }
    for var other in these where other.id != first.id {
      other.codes = []
      if !other.isTold {
        remove(other, at: transaction.at)
      } else if let alert = tell(
        .retracted, other, event, at: transaction.at, mergedInto: first)
      {
        alerts.append(alert)
      }
    }
    return alerts
  }

  /// What is told of an earthquake that a conversation knows.
  ///
  /// - Parameters:
  ///   - shown: The event; nil if there is none any more.
  ///   - isOpen: Whether this conversation, or one that ends in favour of it, tells of the earthquake.
  private mutating func step(
    of conversation: Conversation, _ shown: EventRecord?, isOpen: Bool,
    in transaction: ChangeTransaction
  ) -> Message.Kind? {
    switch conversation.state {
    case .closed: return nil
    case .waiting:
      if !(shown.map(returning.accepts) ?? false) { remove(conversation, at: transaction.at) }
      return nil
    case .retracted:
      guard let shown else { return nil }
      return (isOpen ? holding : returning).accepts(shown) ? .updated : nil
    case .open:
      guard let shown, holding.accepts(shown) else { return .retracted }
      guard let told = conversation.told else { return .updated }
      return rule.differs(shown, from: told, in: transaction) ? .updated : nil
    }
  }
}
