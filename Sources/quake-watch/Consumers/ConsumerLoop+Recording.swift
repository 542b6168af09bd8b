import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

extension ConsumerLoop {
  // MARK: - Messages

  /// Writes a page, then gives its messages to the sender.
  func write(_ page: PageBuilder, over connection: Connection) throws {
    page.finish()
    guard !page.page.isEmpty else { return }
    var numbers: [Int64?] = []
    var hasLost = false
    while true {
      do {
        numbers = try store.record(page.page, over: connection)
        break
      } catch let lost as ConsumerStore.LostConsumers {
        // What has become of them is noticed below.
        page.remove(lost.names)
        hasLost = true
        for name in lost.names { consumers[name]?.place = .lost }
      }
    }
    send(page, numbers)
    if hasLost { try lookAtNotices(over: connection) }
  }

  private func send(_ page: PageBuilder, _ numbers: [Int64?]) {
    var owed: [ConsumerKey: [ConsumerStore.Owed]] = [:]
    var messages: [ConsumerKey: [Int64: Message]] = [:]
    for (index, number) in numbers.enumerated() {
      guard let number else { continue }
      let owner = page.owners[index]
      let message = page.page.messages[page.page.owed[index].message]
      owed[owner.key, default: []].append(
        ConsumerStore.Owed(number: number, subject: message.subject))
      messages[owner.key, default: [:]][number] = message
    }
    for (key, list) in owed {
      byKey[key]?.owed += list.count
      if let consumer = byKey[key], consumer.isFull,
        consumer.place == .current || consumer.place == .behind
      {
        noteFull(consumer)
        consumer.place = .full
      }
    }
    commands.post(owed.map { .owe($0.key, $0.value, messages[$0.key] ?? [:]) })
  }

  private func noteFull(_ consumer: Consumer) {
    diagnostics.warning(
      "consumer \"\(consumer.name)\" owes \(Readable.count(consumer.owed, "message")): it reads no further until its"
        + " receiver takes some",
      hint: "Its limit is the key 'backlog'.")
  }

  // MARK: - Outcomes

  /// Takes what the sender reports, and records it.
  func takeAnswers(over connection: Connection) throws {
    for answer in answers.take() {
      switch answer {
      case .ended(let key, let attempt, let decisions, let reason):
        unrecorded.append((key, attempt))
        note(decisions, reason, of: key)
      case .needs(let key, let attempt, let numbers): needs.append((key, attempt, numbers))
      case .gone(let key, let error): try end(key, because: error)
      case .stopped: noteEnd()
      }
    }
    try record(over: connection)
    try fetch(over: connection)
  }

  private func note(
    _ decisions: [(number: Int64, decision: DeliveryQueue.Decision)], _ reason: String?,
    of key: ConsumerKey
  ) {
    guard let consumer = byKey[key] else { return }
    let reason = reason ?? "unknown"
    var parked = 0
    for (number, decision) in decisions {
      let result: ConsumerStore.Outcome.Result
      switch decision {
      case .delivered:
        result = .delivered
        consumer.owed -= 1
      case .retried(let attempts, let pause, let tried):
        result = .failed(reason: reason, attempts: attempts, pause: pause, tried: tried)
      case .parked(let attempts):
        result = .parked(reason: reason, attempts: attempts)
        consumer.owed -= 1
        parked += 1
      }
      outcomes.append(
        ConsumerStore.Outcome(consumer: consumer.name, number: number, result: result))
    }
    report(consumer, decisions.first?.decision, reason, parked: parked)
    if consumer.place == .full, consumer.hasRoom { begin([consumer]) }
  }

  private func report(
    _ consumer: Consumer, _ decision: DeliveryQueue.Decision?, _ reason: String, parked: Int
  ) {
    switch decision {
    case nil: break
    case .delivered:
      if consumer.isReported { diagnostics.note("consumer \"\(consumer.name)\" delivers again") }
      consumer.isReported = false
    case .retried:
      if consumer.reportsFailure() {
        diagnostics.warning(
          "consumer \"\(consumer.name)\" could not deliver a message: \(reason)",
          hint: "It is tried again.")
      }
    case .parked: break
    }
    guard parked > 0 else { return }
    diagnostics.warning(
      "consumer \"\(consumer.name)\" gave \(Readable.count(parked, "message")) up: \(reason)",
      hint:
        "\"quake-admin consumers show\" lists them; \"retry\" and \"discard\" decide about them.")
  }

  /// Writes the outcomes, then lets the sender go on.
  func record(over connection: Connection) throws {
    guard !unrecorded.isEmpty || !outcomes.isEmpty else { return }
    witness.add(try store.record(outcomes, over: connection))
    outcomes = []
    commands.post(unrecorded.map { .recorded($0.key, attempt: $0.attempt) })
    unrecorded = []
  }

  /// Gives the sender the contents that it has asked for. If the connection is lost meanwhile, it gets them over the
  /// next one.
  private func fetch(over connection: Connection) throws {
    guard !needs.isEmpty else { return }
    let wanted = needs.flatMap { need in
      need.numbers.compactMap { number in byKey[need.key].map { ($0.name, number) } }
    }
    let rows = try store.messages(wanted, over: connection)
    // Somebody has discarded what is missing, or rewound the consumer. The sender learns first what is owed now, so
    // that it does not go on to a later message that is not owed either.
    if rows.count < wanted.count { try lookAtNotices(over: connection) }
    var found: [String: [Int64: Message]] = [:]
    for (name, number, message) in rows { found[name, default: [:]][number] = message }
    commands.post(
      needs.map { need in
        let messages = byKey[need.key].flatMap { found[$0.name] } ?? [:]
        return .contents(
          need.key, attempt: need.attempt, messages.filter { need.numbers.contains($0.key) })
      })
    needs = []
  }

  /// A consumer's receiver is gone for ever.
  private func end(_ key: ConsumerKey, because error: any Error) throws {
    guard let consumer = byKey[key] else { return }
    consumer.place = .stopped
    // Standard output is closed, and nothing else is delivered: as if a person had ended the program.
    if consumers.values.allSatisfy({ $0.place == .stopped }) { throw error }
    diagnostics.warning(
      "consumer \"\(consumer.name)\" has ended: \(Failure(error)?.message ?? "its receiver is gone")"
    )
  }

  // MARK: - Cursors

  /// Stores the cursors that have moved without messages, and that all are alive.
  func moveIdle(over connection: Connection) throws {
    while true {
      let all = consumers.values.filter { $0.place != .lost }.sorted { $0.name < $1.name }
      do {
        try store.moveIdle(all.map { ($0.name, $0.cursor) }, over: connection)
        return
      } catch let lost as ConsumerStore.LostConsumers {
        for name in lost.names { consumers[name]?.place = .lost }
      }
    }
  }

  func showLife(over connection: Connection) throws {
    try moveIdle(over: connection)
    try lookAtNotices(over: connection)
  }
}
