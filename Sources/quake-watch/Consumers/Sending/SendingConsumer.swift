import Basics
import Glibc
import QuakeConsumers
import QuakeSinks

/// A consumer on the sender's thread: what it owes, its sink, and the attempts under way.
final class SendingConsumer {
  private let key: ConsumerKey
  private var sink: any Sink
  var queue: DeliveryQueue
  private var attempts: [Int: Attempt] = [:]
  private var lastAttempt = 0
  /// Messages that wait for their first attempt, and are not read from the database for it.
  private var messages: [Int64: Message] = [:]
  private(set) var keptBytes = 0
  private var generator = SystemRandomNumberGenerator()

  private struct Attempt {
    let numbers: [Int64]
    var phase: Phase
  }

  private enum Phase {
    /// The contents of its messages are on their way.
    case waiting
    case underWay(any DeliveryAttempt)
    /// Its outcome is being recorded.
    case ended
  }

  init(_ key: ConsumerKey, _ sink: any Sink, _ settings: DeliveryQueue.Settings) {
    self.key = key
    self.sink = sink
    queue = DeliveryQueue(settings)
  }

  /// Whether an attempt is under way.
  var hasAttempts: Bool {
    attempts.values.contains {
      if case .underWay = $0.phase { true } else { false }
    }
  }

  /// Keeps a message for its first attempt.
  ///
  /// - Returns: Its bytes.
  func keep(_ message: Message, as number: Int64) -> Int {
    messages[number] = message
    keptBytes += message.size
    return message.size
  }

  /// Replaces what is owed, and forgets the messages that are not owed any more.
  func replaceOwed(with owed: [ConsumerStore.Owed], at now: Duration) {
    queue.replace(with: owed, at: now)
    let numbers = Set(owed.map(\.number))
    for number in messages.keys where !numbers.contains(number) { _ = take(number) }
  }

  func replaceSink(by other: any Sink) {
    sink.end()
    sink = other
  }

  // MARK: - Attempts

  /// Goes on with the attempts under way, and begins others.
  ///
  /// - Returns: How many bytes of messages it has no more.
  func advance(_ begins: Bool, _ reports: inout [SenderReport]) -> Int {
    let before = keptBytes
    for (id, attempt) in attempts {
      guard case .underWay(let delivery) = attempt.phase, let outcome = delivery.advance()
      else { continue }
      end(id, attempt, outcome, &reports)
    }
    while begins, let numbers = queue.begin(at: MonotonicClock.now()) {
      lastAttempt += 1
      attempts[lastAttempt] = Attempt(numbers: numbers, phase: .waiting)
      let contents = numbers.compactMap { take($0) }
      guard contents.count == numbers.count else {
        reports.append(.needs(key, attempt: lastAttempt, numbers))
        continue
      }
      attempts[lastAttempt]?.phase = .underWay(sink.begin(contents))
    }
    return before - keptBytes
  }

  private func take(_ number: Int64) -> Message? {
    guard let message = messages.removeValue(forKey: number) else { return nil }
    keptBytes -= message.size
    return message
  }

  /// Starts an attempt whose contents have come.
  func start(_ id: Int, with contents: [Int64: Message]) {
    guard let attempt = attempts[id], case .waiting = attempt.phase else { return }
    let found = attempt.numbers.compactMap { contents[$0] }
    guard found.count == attempt.numbers.count else {
      // Discarded meanwhile. The main thread says so, too, and the others are tried anew.
      attempts[id] = nil
      queue.abandon(attempt.numbers, without: attempt.numbers.filter { contents[$0] == nil })
      return
    }
    attempts[id]?.phase = .underWay(sink.begin(found))
  }

  private func end(
    _ id: Int, _ attempt: Attempt, _ outcome: DeliveryOutcome, _ reports: inout [SenderReport]
  ) {
    let ending: DeliveryQueue.Ending
    var reason: String?
    switch outcome {
    case .delivered: ending = .delivered
    case .failed(let failure):
      ending = .failed(retryAfter: failure.retryAfter, isFinal: failure.isFinal)
      reason = failure.reason
    case .ended(let error):
      attempts[id]?.phase = .ended
      queue.setPaused(true, at: MonotonicClock.now())
      reports.append(.gone(key, error))
      return
    }
    attempts[id]?.phase = .ended
    let decisions = queue.end(
      attempt.numbers, ending, at: MonotonicClock.now(), using: &generator)
    reports.append(.ended(key, attempt: id, decisions, reason: reason))
  }

  func recorded(_ id: Int, at now: Duration) {
    guard let attempt = attempts.removeValue(forKey: id) else { return }
    queue.recorded(attempt.numbers, at: now)
  }

  func addWaits(to descriptors: inout [pollfd], _ deadline: inout Deadline?, begins: Bool) {
    for attempt in attempts.values {
      guard case .underWay(let delivery) = attempt.phase else { continue }
      descriptors += delivery.descriptors
      if let moment = delivery.deadline { deadline = min(deadline ?? moment, moment) }
    }
    let now = MonotonicClock.now()
    if begins, let next = queue.nextBegin(at: now) {
      let moment = Deadline(after: max(.zero, next - now))
      deadline = min(deadline ?? moment, moment)
    }
  }

  /// Cancels all attempts. Their messages stay owed.
  func cancel() {
    for attempt in attempts.values {
      if case .underWay(let delivery) = attempt.phase { delivery.cancel() }
    }
    attempts = [:]
  }

  func end() { sink.end() }
}

extension Message {
  /// About how many bytes it has.
  fileprivate var size: Int {
    data.utf8.count + variables.reduce(200) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
  }
}
