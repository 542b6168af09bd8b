internal import Basics
internal import CommandLine
package import QuakeConsumers
internal import QuakeHistory
package import QuakeModel

extension StatusLimits {
  /// The problems of consumers. One that somebody has paused is none.
  package func problemsOfConsumers(in report: StatusReport) -> [Problem] {
    (report.consumers ?? []).flatMap { problems(of: $0) }
  }

  private func problems(of consumer: ConsumerStatus) -> [Problem] {
    var problems: [Problem] = []
    let isPaused = consumer.pausedAt != nil
    if !consumer.isRun, !isPaused {
      let silence = Readable.duration(consumer.age(of: consumer.cursor.seenAt))
      problems.append(
        Problem(
          message: "no process has run consumer \(consumer.name) for \(silence)",
          hint: """
            Start "quake-watch run" with its configuration. "quake-admin consumers remove" removes one that is no \
            longer used.
            """))
    }
    if consumer.parked > 0 {
      problems.append(
        Problem(
          message: """
            consumer \(consumer.name) has parked \(Readable.count(consumer.parked, "message")), which it does not \
            try again
            """,
          detail: consumer.isFailing ? consumer.error : nil,
          hint: """
            "quake-admin consumers show" has the reasons; "retry" and "discard" decide what becomes of them.
            """))
    }
    if let oldest = consumer.oldestOwedAt, !isPaused, consumer.age(of: oldest) > watcherLag {
      problems.append(
        Problem(
          message: """
            consumer \(consumer.name) owes \(Readable.count(consumer.owed, "message")), the oldest for \
            \(Readable.duration(consumer.age(of: oldest)))
            """,
          detail: consumer.isFailing ? consumer.error : nil,
          hint: "Its receiver is down or slow: see \"quake-admin consumers show\"."))
    }
    return problems
  }
}

extension JSONWriter {
  /// Writes the members of a consumer.
  package mutating func members(of consumer: ConsumerStatus) {
    member("name", consumer.name)
    member("sink", consumer.sink)
    member("alert", consumer.isAlerting)
    member("state", consumer.state.rawValue)
    member("running", consumer.isRun)
    member("paused_at", consumer.pausedAt)
    member("token", "\(consumer.cursor.cursor.token)")
    member("changes", consumer.cursor.cursor.changes)
    member("tokens_behind", consumer.cursor.transactionsBehind)
    member("lag_seconds", consumer.lag.inSeconds)
    member("owed", consumer.owed)
    member("oldest_owed_at", consumer.oldestOwedAt)
    member("parked", consumer.parked)
    member("delivered", consumer.delivered)
    member("messages_per_hour", consumer.rate)
    member("held_back", consumer.heldBack)
    member("delivered_at", consumer.deliveredAt)
    member("failed_at", consumer.failedAt)
    member("error", consumer.error)
    member("role", consumer.role)
    member("made_at", consumer.madeAt)
    member("moved_at", consumer.cursor.movedAt)
    member("seen_at", consumer.cursor.seenAt)
    member("expired", consumer.cursor.isExpired)
  }
}
