internal import Basics

/// What one consumer owes its receiver, and when each message is tried.
///
/// Messages with the same subject are delivered in order: the next one waits until the one before was delivered or
/// parked. Others go on. A message without a subject concerns all events (a truncate): it waits for all that are older,
/// and all that are newer wait for it. The queue knows no clock and no message: its owner gives it the time and gets
/// numbers.
package struct DeliveryQueue: Sendable {
  /// How a consumer's messages are delivered.
  package struct Settings: Hashable, Sendable {
    /// How many attempts may be under way.
    package var atOnce = 8
    /// How many messages one attempt delivers at most.
    package var batch = 1
    /// How long a message is tried before it is parked: from its first attempt on, without pauses of the consumer.
    package var giveUp = Duration.seconds(86_400)

    package init() {}
  }

  /// What becomes of a message after an attempt.
  package enum Decision: Hashable, Sendable {
    case delivered
    /// It is tried again after a pause; `attempts` have failed, and it has been tried for the time `tried`.
    case retried(attempts: Int, pause: Duration, tried: Duration)
    /// It is not tried again.
    case parked(attempts: Int)
  }

  package enum Ending: Hashable, Sendable {
    case delivered
    /// - Parameters:
    ///   - retryAfter: How long the receiver asks to wait.
    ///   - isFinal: Whether the receiver will refuse the same messages again.
    case failed(retryAfter: Duration?, isFinal: Bool)
  }

  package var settings: Settings
  /// Whether nothing is begun.
  package private(set) var isPaused = false
  /// When the last pause began, and how long all that have ended were together.
  private var pausedAt = Duration.zero
  private var pausedFor = Duration.zero

  private var items: [Int64: Item] = [:]
  /// The messages of each subject in their order. The first one is tried, or waits.
  private var subjects: [String: [Int64]] = [:]
  /// Firsts of their subjects that may be tried now, by number.
  private var ready = Heap<Int64>()
  /// Firsts of their subjects that are tried later.
  private var waiting = Heap<Due>()
  /// Messages without a subject, by number.
  private var barriers: [Int64] = []
  /// How many messages are older than the first of them.
  private var blockers = 0
  /// The messages of the attempt that began last.
  private var inBatch: Set<Int64> = []
  /// How many attempts are under way or not recorded.
  private var underWay = 0
  /// How many attempts in a row have failed.
  private var failuresInARow = 0
  /// When the next attempt may begin in any case.
  private var earliest = Duration.zero

  private struct Item {
    var subject: String
    var attempts: Int
    /// How long it had been tried when its last attempt ended.
    var tried: Duration
    /// When that was, or when it was added: without the pauses.
    var since: Duration
    /// When it is tried again; zero: at once.
    var due: Duration
    var state = State.idle
    /// Whether it goes alone, because a batch with it was refused for good.
    var isAlone = false
  }

  private enum State {
    case idle
    /// An attempt is under way, or its outcome is not recorded.
    case tried
    /// The same, and the decision is made.
    case decided(Decision)
    /// The same, and it was discarded meanwhile.
    case discarded
  }

  private struct Due: Comparable {
    let at: Duration
    let number: Int64

    static func < (left: Due, right: Due) -> Bool {
      (left.at, left.number) < (right.at, right.number)
    }
  }

  package init(_ settings: Settings) {
    self.settings = settings
  }

  // MARK: - Owing

  /// How many messages are owed.
  package var count: Int { items.count }
  /// Whether an attempt is under way or not recorded.
  package var isBusy: Bool { underWay > 0 }

  /// Begins nothing until it is called again, or goes on.
  package mutating func setPaused(_ isPaused: Bool, at now: Duration) {
    guard isPaused != self.isPaused else { return }
    if isPaused { pausedAt = now } else { pausedFor += now - pausedAt }
    self.isPaused = isPaused
  }

  /// The time without the pauses.
  private func running(at now: Duration) -> Duration { (isPaused ? pausedAt : now) - pausedFor }

  /// Adds messages, in the order of their numbers.
  package mutating func add(_ owed: some Sequence<ConsumerStore.Owed>, at now: Duration) {
    for owed in owed where items[owed.number] == nil {
      items[owed.number] = Item(
        subject: owed.subject, attempts: owed.attempts, tried: owed.tried,
        since: running(at: now), due: Self.isPause(owed.delay) ? now + owed.delay : .zero)
      count(owed.number, owed.subject)
      let line = subjects[owed.subject, default: []]
      guard let last = line.last, last > owed.number else {
        subjects[owed.subject, default: []].append(owed.number)
        if line.isEmpty { schedule(owed.number) }
        continue
      }
      insert(owed.number, into: owed.subject)
    }
  }

  /// Takes note of a message for the order of those without a subject.
  private mutating func count(_ number: Int64, _ subject: String) {
    if subject.isEmpty {
      barriers.insert(number, at: barriers.firstIndex { $0 > number } ?? barriers.count)
      if barriers.first == number { countBlockers() }
    } else if let first = barriers.first, number < first {
      blockers += 1
    }
  }

  private mutating func countBlockers() {
    blockers = barriers.first.map { first in items.keys.count { $0 < first } } ?? 0
  }

  /// Whether no message without a subject holds it.
  private func isPassable(_ number: Int64) -> Bool {
    guard let first = barriers.first else { return true }
    return number < first || (number == first && blockers == 0)
  }

  /// A message that was parked and is tried again may be older than those that wait.
  private mutating func insert(_ number: Int64, into subject: String) {
    guard var line = subjects[subject] else { return }
    // The first one may be under way.
    let index = max(isTried(line[0]) ? 1 : 0, line.firstIndex { $0 > number } ?? line.count)
    line.insert(number, at: index)
    subjects[subject] = line
    if index == 0 { schedule(number) }
  }

  /// Replaces what is owed by what the database has. Attempts under way go on.
  package mutating func replace(with owed: [ConsumerStore.Owed], at now: Duration) {
    let kept = Set(owed.map(\.number))
    let before = items
    (items, subjects, barriers, blockers) = ([:], [:], [], 0)
    for number in before.keys.sorted() {
      guard var item = before[number] else { continue }
      switch item.state {
      case .idle: continue
      case .tried where !kept.contains(number): item.state = .discarded
      default: break
      }
      items[number] = item
      subjects[item.subject, default: []].append(number)
      count(number, item.subject)
    }
    add(owed, at: now)
    // Somebody has a message tried again at once, whatever the receiver has asked for.
    if owed.contains(where: { $0.attempts == 0 && (before[$0.number]?.attempts ?? 0) > 0 }) {
      (failuresInARow, earliest) = (0, .zero)
    }
    for (number, item) in before where items[number]?.attempts == item.attempts {
      items[number]?.tried = item.tried
      items[number]?.since = item.since
      items[number]?.isAlone = item.isAlone
    }
    ready = Heap()
    waiting = Heap()
    for line in subjects.values {
      if let first = line.first, !isTried(first) { schedule(first) }
    }
  }

  private func isTried(_ number: Int64) -> Bool {
    guard let item = items[number] else { return false }
    if case .idle = item.state { return false }
    return true
  }

  private mutating func remove(_ number: Int64) {
    guard let item = items.removeValue(forKey: number) else { return }
    if item.subject.isEmpty {
      barriers.removeAll { $0 == number }
      countBlockers()
    } else if let first = barriers.first, number < first {
      blockers -= 1
    }
    guard var line = subjects[item.subject] else { return }
    if line.first == number { line.removeFirst() } else { line.removeAll { $0 == number } }
    subjects[item.subject] = line.isEmpty ? nil : line
  }

  /// Makes the first message of a subject ready, now or later.
  private mutating func schedule(_ number: Int64) {
    guard let item = items[number] else { return }
    if item.due > .zero {
      waiting.insert(Due(at: item.due, number: number))
    } else {
      ready.insert(number)
    }
  }

  // MARK: - Attempts

  /// How many failures in a row mean that the receiver is down.
  private static let patience = 5
  /// How often one that is down is tried.
  private static let probeInterval = Duration.seconds(1)

  private var isDown: Bool { failuresInARow >= Self.patience }

  private var hasRoom: Bool { !isPaused && underWay < (isDown ? 1 : settings.atOnce) }

  /// Begins an attempt.
  ///
  /// - Returns: The numbers of its messages, in their order; nil if none can begin now.
  package mutating func begin(at now: Duration) -> [Int64]? {
    guard hasRoom, earliest <= now else { return nil }
    while let first = waiting.first, first.at <= now {
      waiting.removeFirst()
      if isDue(first.number, due: first.at) { ready.insert(first.number) }
    }
    inBatch = []
    var batch: [Int64] = []
    while batch.count < settings.batch, let number = nextReady(at: now) {
      let isAlone = items[number].map { $0.isAlone || $0.subject.isEmpty } ?? false
      if isAlone, !batch.isEmpty { break }
      ready.removeFirst()
      items[number]?.state = .tried
      batch.append(number)
      inBatch.insert(number)
      if isAlone { break }
      if batch.count < settings.batch { makeNextReady(after: number, at: now) }
    }
    guard !batch.isEmpty else { return nil }
    underWay += 1
    if isDown { earliest = now + Self.probeInterval }
    return batch
  }

  /// The first of what is ready: without what was removed or tried meanwhile, and without the second ones of their
  /// subjects that an earlier batch has left. nil also if it has to wait for another one, as all after it have.
  private mutating func nextReady(at now: Duration) -> Int64? {
    while let number = ready.first {
      if let item = items[number], !isTried(number), item.due <= now,
        let line = subjects[item.subject],
        line.first == number || isFollowing(number, in: line)
      {
        return isPassable(number) ? number : nil
      }
      ready.removeFirst()
    }
    return nil
  }

  /// Whether the message before it is in the batch that is being made.
  private func isFollowing(_ number: Int64, in line: [Int64]) -> Bool {
    guard let index = line.firstIndex(of: number), index > 0 else { return false }
    return inBatch.contains(line[index - 1])
  }

  /// Whether what waits was not removed, or scheduled anew, meanwhile.
  private func isDue(_ number: Int64, due: Duration) -> Bool {
    guard let item = items[number], item.due == due, !isTried(number) else { return false }
    return true
  }

  /// A batch may have several messages of one subject.
  private mutating func makeNextReady(after number: Int64, at now: Duration) {
    guard let item = items[number], let line = subjects[item.subject],
      let index = line.firstIndex(of: number), index + 1 < line.count,
      let next = items[line[index + 1]], next.due <= now, !next.isAlone
    else { return }
    ready.insert(line[index + 1])
  }

  /// Takes back an attempt that cannot begin, because some of its messages were discarded.
  package mutating func abandon(_ numbers: [Int64], without discarded: [Int64]) {
    for number in numbers { items[number]?.state = .idle }
    for number in discarded where items[number] != nil { items[number]?.state = .discarded }
    free(numbers)
  }

  /// Decides what becomes of the messages of an attempt that has ended. They stay under way until `recorded`.
  package mutating func end(
    _ numbers: [Int64], _ ending: Ending, at now: Duration,
    using generator: inout some RandomNumberGenerator
  ) -> [(number: Int64, decision: Decision)] {
    switch ending {
    case .delivered: failuresInARow = 0
    case .failed(let retryAfter, let isFinal):
      // A receiver that refuses a message is there.
      failuresInARow = isFinal ? 0 : failuresInARow + 1
      if let retryAfter { earliest = max(earliest, now + min(retryAfter, Self.longestRetryAfter)) }
    }
    var decisions: [(number: Int64, decision: Decision)] = []
    for number in numbers {
      guard let item = items[number], case .tried = item.state else { continue }
      let decision = decide(item, ending, isBatch: numbers.count > 1, at: now, &generator)
      items[number]?.state = .decided(decision)
      if case .failed(_, true) = ending, numbers.count > 1 { items[number]?.isAlone = true }
      decisions.append((number, decision))
    }
    return decisions
  }

  private func decide(
    _ item: Item, _ ending: Ending, isBatch: Bool, at now: Duration,
    _ generator: inout some RandomNumberGenerator
  ) -> Decision {
    guard case .failed(let retryAfter, let isFinal) = ending else { return .delivered }
    let attempts = item.attempts + 1
    let tried =
      item.attempts == 0 ? .zero : item.tried + max(.zero, running(at: now) - item.since)
    if isFinal {
      return isBatch
        ? .retried(attempts: attempts, pause: .zero, tried: tried) : .parked(attempts: attempts)
    }
    guard attempts == 1 || tried < settings.giveUp else { return .parked(attempts: attempts) }
    let asked = min(retryAfter ?? .zero, Self.longestRetryAfter)
    let pause = max(asked, Self.pause(after: attempts, using: &generator))
    return .retried(attempts: attempts, pause: pause, tried: tried)
  }

  /// Frees the place of an attempt: its decisions are in the database.
  package mutating func recorded(_ numbers: [Int64], at now: Duration) {
    let since = running(at: now)
    for number in numbers {
      if case .decided(.retried(let attempts, let pause, let tried)) = items[number]?.state {
        items[number]?.attempts = attempts
        items[number]?.tried = tried
        items[number]?.since = since
        items[number]?.due = pause > .zero ? now + pause : .zero
        items[number]?.state = .idle
      }
    }
    free(numbers)
  }

  /// Ends an attempt: what is not idle again is not owed any more.
  private mutating func free(_ numbers: [Int64]) {
    underWay -= 1
    let subjects = Set(numbers.compactMap { items[$0]?.subject })
    for number in numbers where isTried(number) { remove(number) }
    for subject in subjects {
      if let first = self.subjects[subject]?.first, !isTried(first) { schedule(first) }
    }
  }

  /// When to call `begin` again; nil: after the next event.
  package func nextBegin(at now: Duration) -> Duration? {
    guard hasRoom else { return nil }
    if let first = ready.first, isPassable(first) { return max(now, earliest) }
    return waiting.first.map { max($0.at, earliest) }
  }

  // MARK: - Pauses

  private static let longestPause = Duration.seconds(600)
  private static let longestRetryAfter = Duration.seconds(3600)

  /// Whether a message waits so long before its next attempt. No pause is longer: the server's clock was put back.
  private static func isPause(_ delay: Duration) -> Bool {
    delay > .zero && delay <= longestRetryAfter
  }

  /// 1 s, 2 s, 4 s up to 10 min, of which a part is left out at random: those that failed together are not tried again
  /// together.
  static func pause(
    after attempts: Int, using generator: inout some RandomNumberGenerator
  ) -> Duration {
    let whole = min(.seconds(1 << min(max(attempts, 1) - 1, 20)), longestPause)
    return whole * Double.random(in: 0.5...1, using: &generator)
  }
}

/// A queue whose least element comes first.
struct Heap<Element: Comparable & Sendable>: Sendable {
  private var elements: [Element] = []

  var isEmpty: Bool { elements.isEmpty }
  var first: Element? { elements.first }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() {
    guard let last = elements.popLast(), !elements.isEmpty else { return }
    elements[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < elements.count && elements[child] < elements[least] {
        least = child
      }
      guard least != parent else { return }
      elements.swapAt(parent, least)
      parent = least
    }
  }
}
