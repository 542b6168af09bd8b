import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// What an operator does with consumers. Each action is one transaction, and says what it did.
struct ConsumerActions {
  let connection: Connection
  let diagnostics: Diagnostics
  let consent: Consent?

  /// The consumers of these names, each once.
  func choose(
    _ names: [String], among consumers: [ConsumerStatus]
  ) throws(StoreError) -> [ConsumerStatus] {
    var chosen: [ConsumerStatus] = []
    for name in names where !chosen.contains(where: { $0.name == name }) {
      guard let consumer = consumers.first(where: { $0.name == name }) else {
        throw Self.unknown(name, among: consumers.map(\.name))
      }
      chosen.append(consumer)
    }
    return chosen
  }

  func pause(_ consumers: [ConsumerStatus]) throws {
    try change(consumers) { consumer in
      try ConsumerControl.pause(consumer.name, over: connection).map { since, isNew in
        isNew
          ? """
          paused consumer \(consumer.name); "quake-admin consumers resume \(consumer.name)" resumes it
          """ : "consumer \(consumer.name) is already paused since \(since.text)"
      }
    }
  }

  func resume(_ consumers: [ConsumerStatus]) throws {
    try change(consumers) { consumer in
      try ConsumerControl.resume(consumer.name, over: connection).map { wasPaused in
        wasPaused
          ? "resumed consumer \(consumer.name)" : "consumer \(consumer.name) is not paused"
      }
    }
    consumers.forEach(warnIfNotRun)
  }

  func rewind(_ consumer: ConsumerStatus, to place: HistoryBound) throws -> ExitStatus {
    let token = try place.resolve(over: connection)
    let from = consumer.cursor.cursor.token
    let effect =
      token.number > from.number
      ? "leaves out the changes between" : "delivers the changes since then again"
    guard
      consent?.isGiven(
        "Move consumer \"\(PrintableText.line(consumer.name))\" from \(from) to \(token)? It \(effect)."
      ) == true
    else { return .failed }
    try change([consumer]) { consumer in
      try ConsumerControl.rewind(consumer.name, to: token, over: connection).map { rewind in
        Self.text(of: rewind, consumer)
      }
    }
    warnIfNotRun(consumer)
    return .ok
  }

  private static func text(
    of rewind: ConsumerControl.Rewind, _ consumer: ConsumerStatus
  ) -> String {
    let count = Readable.count(rewind.transactions.magnitude, "transaction")
    var text = """
      moved consumer \(consumer.name) from \(rewind.from) to \(rewind.to): it \
      \(rewind.transactions < 0 ? "leaves out \(count)" : "reads \(count) again")
      """
    if consumer.isAlerting {
      text += """
        ; \(Readable.count(rewind.reopened, "conversation")) that began later \
        \(rewind.reopened == 1 ? "is" : "are") forgotten, \
        \(Readable.count(rewind.restored, "other")) \(rewind.restored == 1 ? "is" : "are") as then
        """
    }
    if rewind.dropped > 0 {
      text += "; \(Readable.count(rewind.dropped, "message")) of later changes deleted"
    }
    return text
  }

  func retry(_ ids: [String], of consumer: ConsumerStatus) throws {
    try change([consumer]) { consumer in
      try ConsumerControl.retry(ids, of: consumer.name, over: connection).map { count in
        count == 0
          ? "consumer \(consumer.name) has no message that is parked or waits"
          : "consumer \(consumer.name) tries \(Readable.count(count, "message")) again now"
      }
    }
    if consumer.pausedAt != nil {
      diagnostics.warning(
        "consumer \"\(consumer.name)\" is paused, and delivers nothing",
        hint: "\"quake-admin consumers resume \(consumer.name)\" resumes it.")
    } else {
      warnIfNotRun(consumer)
    }
  }

  func discard(
    _ selection: ConsumerControl.Selection, of consumer: ConsumerStatus
  ) throws -> ExitStatus {
    if consent?.asks == true {
      let count = try ConsumerControl.count(selection, of: consumer.name, over: connection)
      let name = PrintableText.line(consumer.name)
      guard
        consent?.isGiven(
          "Discard \(Readable.count(count, "message")) that consumer \"\(name)\" owes?") == true
      else { return .failed }
    }
    try change([consumer]) { consumer in
      try ConsumerControl.discard(selection, of: consumer.name, over: connection).map { count in
        "discarded \(Readable.count(count, "message")) of consumer \(consumer.name)"
      }
    }
    return .ok
  }

  func remove(_ consumers: [ConsumerStatus]) throws -> ExitStatus {
    let list = consumers.map { "\"\(PrintableText.line($0.name))\"" }.joined(separator: ", ")
    let owed = consumers.reduce(0) { $0 + $1.owed + $1.parked }
    guard
      consent?.isGiven(
        "Remove consumer \(list), and \(Readable.count(owed, "message")) not delivered?") == true
    else { return .failed }
    try change(consumers) { consumer in
      try DurableCursor.remove(consumer.name, over: connection)
        ? "removed consumer \(consumer.name)" : nil
    }
    return .ok
  }

  /// Changes all consumers or none, in an order that two commands share: neither waits for the other for ever.
  ///
  /// - Parameter body: Changes one, and returns a message about it; nil if there is none of that name.
  private func change(
    _ consumers: [ConsumerStatus], _ body: (ConsumerStatus) throws -> String?
  ) throws {
    let messages = try retryingDeadlocks {
      try connection.transaction {
        try consumers.sorted { $0.name < $1.name }.map { consumer in
          guard let message = try body(consumer) else {
            throw Self.unknown(consumer.name, among: [])
          }
          return PrintableText.line(message)
        }
      }
    }
    for message in messages { diagnostics.note(message) }
  }

  /// The process that runs the consumer may lock the same messages in another order. Then PostgreSQL ends one of both.
  private func retryingDeadlocks<Value>(_ body: () throws -> Value) throws -> Value {
    for _ in 1..<5 {
      do {
        return try body()
      } catch let error as PostgresError where error.sqlState == SQLState.deadlockDetected {
        diagnostics.verbose("trying again: \(error.message)")
      }
    }
    return try body()
  }

  private func warnIfNotRun(_ consumer: ConsumerStatus) {
    guard !consumer.isRun else { return }
    let (problem, start) =
      consumer.isRemote
      ? ("no client follows", "its client asks for its changes")
      : (
        "no process runs",
        consumer.program.map { "program \"\($0)\" has started" }
          ?? "\"quake-watch run\" has started with its configuration"
      )
    diagnostics.warning(
      "\(problem) consumer \"\(consumer.name)\", which was last seen at \(consumer.cursor.seenAt.text)",
      hint: "It goes on when \(start).")
  }

  private static func unknown(_ name: String, among known: [String]) -> StoreError {
    let near = Suggestion.nearest(to: name, among: known).map { "Did you mean \"\($0)\"? " } ?? ""
    return StoreError(
      .conflict, "there is no consumer \"\(PrintableText.line(name))\"",
      hint: "\(near)\"quake-admin consumers\" lists them.")
  }
}
