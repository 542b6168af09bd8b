import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// Consumers as a table, in all detail, and as JSON.
enum ConsumersOutput {
  static func write(_ consumers: [ConsumerStatus], isJSON: Bool) throws {
    try StandardOutput().write(
      consumers, isJSON: isJSON, members: { $1.members(of: $0) }, text: table(of:))
  }

  /// A line for each consumer, and below it its receiver and its last error.
  private static func table(of consumers: [ConsumerStatus]) -> String {
    guard !consumers.isEmpty else { return "" }
    var table = TextTable([
      .text("consumer"), .text("state"), .number("behind"), .number("lag"), .number("owed"),
      .number("parked"), .number("an hour"),
    ])
    for consumer in consumers {
      var notes = [receiver(of: consumer)]
      if let error = lastError(of: consumer) { notes.append(error) }
      if consumer.parked > 0 {
        let parked = Readable.count(consumer.parked, "message")
        notes.append("\(parked) parked until \"retry\" or \"discard\"; \"show\" has the reasons")
      }
      table.add(
        [
          PrintableText.line(consumer.name, atMost: 28), consumer.state.rawValue,
          Readable.count(Int(consumer.cursor.transactionsBehind)), Readable.duration(consumer.lag),
          Readable.count(Int(consumer.owed)), Readable.count(Int(consumer.parked)),
          Readable.decimal(consumer.rate),
        ], notes: notes)
    }
    return table.render()
  }

  private static func receiver(of consumer: ConsumerStatus) -> String {
    (consumer.isAlerting ? "alerts to " : "changes to ") + consumer.sink
  }

  /// The error of the last attempt, if it failed.
  private static func lastError(of consumer: ConsumerStatus) -> String? {
    guard consumer.isFailing, let error = consumer.error, let at = consumer.failedAt else {
      return nil
    }
    return "error \(ago(at, consumer)): \(error)"
  }

  static func writeDetails(
    _ consumers: [ConsumerStatus], atMost limit: Int, over connection: Connection, isJSON: Bool
  ) throws {
    let output = StandardOutput()
    for (index, consumer) in consumers.enumerated() {
      let messages = try OwedMessage.list(of: consumer.name, atMost: limit, over: connection)
      if isJSON {
        try output.writeJSON { json in
          json.object { json in
            json.members(of: consumer)
            json.array("messages") { json in
              for message in messages { json.object { $0.members(of: message) } }
            }
          }
        }
      } else {
        if index > 0 { try output.writeLine("") }
        try output.write(details(of: consumer))
        try output.write(list(of: messages, consumer))
      }
    }
    try output.flush()
  }

  private static func details(of consumer: ConsumerStatus) -> String {
    var list = DetailList(nameWidth: 16)
    func when(_ moment: Timestamp) -> String { "\(moment.text) (\(ago(moment, consumer)))" }
    list.add("consumer", consumer.name)
    list.add("delivers", receiver(of: consumer))
    list.add("state", consumer.state.rawValue)
    if let paused = consumer.pausedAt { list.add("paused", when(paused)) }
    let cursor = consumer.cursor
    list.add("cursor", "\(cursor.cursor)")
    list.add(
      "behind",
      "\(Readable.count(cursor.transactionsBehind, "transaction")), \(Readable.duration(consumer.lag))"
    )
    list.add("owed", Readable.count(Int(consumer.owed)))
    if let oldest = consumer.oldestOwedAt { list.add("oldest owed", when(oldest)) }
    list.add("parked", Readable.count(Int(consumer.parked)))
    list.add(
      "delivered",
      "\(Readable.count(Int(consumer.delivered))), \(Readable.decimal(consumer.rate)) an hour at present"
    )
    if consumer.heldBack > 0 { list.add("held back", Readable.count(Int(consumer.heldBack))) }
    list.add("last delivery", consumer.deliveredAt.map(when) ?? "none")
    if let failed = consumer.failedAt { list.add("last failure", when(failed)) }
    if let error = consumer.error { list.add("error", error) }
    list.add("role", consumer.role ?? "the next that uses it")
    list.add("since", when(consumer.madeAt))
    list.add("last moved", when(cursor.movedAt))
    let silence = consumer.isRemote ? ": no client follows it" : ": no process runs it"
    list.add("last seen", when(cursor.seenAt) + (consumer.isRun ? "" : silence))
    return list.text
  }

  private static func list(of messages: [OwedMessage], _ consumer: ConsumerStatus) -> String {
    var list = DetailList(nameWidth: 0)
    for message in messages {
      let state =
        if let parked = message.parkedAt {
          "parked \(ago(parked, consumer))"
        } else if let due = message.dueAt, due > consumer.time {
          "next attempt at \(due.text)"
        } else {
          "owed"
        }
      let attempts =
        message.attempts > 0 ? Readable.count(message.attempts, "attempt") : "no attempt"
      list.add(
        paragraph:
          "\(message.id) (\(message.kind)): \(state), made \(ago(message.madeAt, consumer)), \(attempts) failed"
      )
      if let reason = message.reason { list.add(paragraph: reason, indent: 2) }
      if let text = message.text { list.add(paragraph: text, indent: 2) }
    }
    let others = consumer.owed + consumer.parked - Int64(messages.count)
    if others > 0 {
      list.add(paragraph: "and \(Readable.count(others, "message")) more; see --limit")
    }
    return list.text
  }

  private static func ago(_ moment: Timestamp, _ consumer: ConsumerStatus) -> String {
    "\(Readable.duration(consumer.age(of: moment))) ago"
  }
}

extension JSONWriter {
  fileprivate mutating func members(of message: OwedMessage) {
    member("id", message.id)
    member("subject", message.subject)
    member("kind", message.kind)
    member("token", message.token)
    member("made_at", message.madeAt)
    member("attempts", message.attempts)
    member("due_at", message.dueAt)
    member("parked_at", message.parkedAt)
    member("reason", message.reason)
    member("text", message.text)
  }
}
