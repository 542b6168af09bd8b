import Glibc
package import QuakeModel

/// A simulated earthquake catalogue, whose events arrive, are revised, change their ids and are withdrawn
/// like those of the real one.
///
/// Deterministic: the same seed, the same number of events, and the same instants passed to `init` and `step`
/// give the same bytes. It is not a model of seismology; it imitates the properties of the feed (magnitudes
/// after Gutenberg and Richter, swarms, missing values, late arrivals, revisions that leave `updated` alone,
/// ids that change).
package struct SimulatedCatalogue: Sendable {
  package private(set) var steps = 0

  /// All events, in the order of `SimulatedEvent.isEarlier`.
  private(set) var events: [SimulatedEvent] = []
  /// Events that vanished; some come back.
  private(set) var removed: [SimulatedEvent] = []
  private var random: SeededGenerator
  private var generator: EventGenerator
  /// Recent strong events, which cause aftershocks.
  private var mainShocks: [SimulatedEvent] = []
  /// The most events; the oldest are removed, so that a long simulation does not exhaust memory.
  private let limit: Int

  private static let minute: Int64 = 60_000
  private static let day: Int64 = 86_400_000
  /// How far back the first events lie, milliseconds.
  private let span: Double

  package var count: Int { events.count }

  /// A catalogue of `events` (0 or more) over the `days` (1 or more) before `now`.
  ///
  /// - Parameter margin: Milliseconds by which the events span less than that.
  package init(
    seed: UInt64, events count: Int, now: Timestamp, days: Int = 30, margin: Int64 = 0
  ) {
    span = Double(days) * Double(Self.day) - Double(margin)
    random = SeededGenerator(seed: seed)
    generator = EventGenerator(year: now.calendarYear)
    limit = max(60_000, count * 2)
    let end = now.microseconds / 1000
    events.reserveCapacity(count + 64)
    mainShocks = (0..<min(12, count / 100)).map { _ in mainShock(before: end) }
    for _ in 0..<count {
      let swarm = mainShocks.isEmpty || !random.chance(0.25) ? nil : random.pick(mainShocks)
      var time = end - Int64(random.unit() * span)
      if let swarm, let after = aftershockTime(of: swarm, before: end) { time = after }
      let appeared = min(end, time + delay())
      var event = generator.event(
        swarm.map { .aftershock(of: $0) } ?? .anywhere, time: time, appeared: appeared,
        random: &random)
      // By now most events have been reviewed.
      if random.chance(0.6) {
        let later = Double(end - appeared) * random.unit() * random.unit()
        event.updated = appeared + Int64(later)
        if later > Double(Self.day) { event.status = .reviewed }
      }
      events.append(event)
    }
    events.sort(by: SimulatedEvent.isEarlier)
  }

  // MARK: - Movement

  /// Moves the catalogue by exactly one change at the instant `now`, which must not go backwards
  /// from one call to the next.
  package mutating func step(at now: Timestamp) {
    let now = now.microseconds / 1000
    steps += 1
    let draw = random.unit()
    if events.isEmpty || draw < 0.27 { return arrive(at: now) }
    if draw < 0.31 { return switchIdentifier(at: now) }
    if draw < 0.35 { return remove() }
    if draw < 0.37, !removed.isEmpty {
      return insert(removed.remove(at: random.below(removed.count)))
    }
    revise(at: now)
  }

  private mutating func arrive(at now: Int64) {
    var time = now - delay()
    var origin = EventGenerator.Origin.anywhere
    if random.chance(0.25), !mainShocks.isEmpty {
      let main = random.pick(mainShocks)
      origin = .aftershock(of: main)
      time = max(time, main.time + 1000)
    }
    let event = generator.event(origin, time: min(time, now), appeared: now, random: &random)
    insert(event)
    if case .anywhere = origin, (event.magnitude ?? 0) >= 4.5 {
      mainShocks.append(event)
      if mainShocks.count > 12 { mainShocks.removeFirst() }
    }
    if events.count > limit { events.removeFirst() }
  }

  private mutating func switchIdentifier(at now: Int64) {
    let index = chooseIndex()
    var event = events.remove(at: index)
    let previous = event.id
    if let known = event.otherIDs.lastIndex(where: { $0.network != previous.network }) {
      event.id = event.otherIDs.remove(at: known)
    } else {
      event.id = generator.identifier(previous.network == .us ? .ak : .us)
    }
    event.otherIDs.append(previous)
    if let magnitude = event.magnitude {
      event.magnitude = (magnitude + random.normal() * 0.2).rounded(to: 10)
    }
    event.updated = now
    insert(event)
  }

  private mutating func remove() {
    var index = chooseIndex()
    // Mostly events that no person has reviewed.
    var attempts = 0
    while events[index].status == .reviewed, attempts < 8 {
      index = chooseIndex()
      attempts += 1
    }
    removed.append(events.remove(at: index))
    if removed.count > 1000 { removed.removeFirst() }
  }

  private mutating func revise(at now: Int64) {
    let index = chooseIndex()
    var event = events[index]
    var reviser = EventReviser(random: random)
    reviser.revise(&event, now: now)
    random = reviser.random
    if event.time == events[index].time {
      events[index] = event
    } else {
      events.remove(at: index)
      insert(event)
    }
  }

  /// Half of all changes are to recent events, half to any.
  private mutating func chooseIndex() -> Int {
    guard random.chance(0.5) else { return random.below(events.count) }
    let recent = random.unit()
    return events.count - 1 - Int(recent * recent * recent * Double(events.count))
  }

  private mutating func insert(_ event: SimulatedEvent) {
    var low = 0
    var high = events.count
    while low < high {
      let middle = (low + high) / 2
      if SimulatedEvent.isEarlier(events[middle], event) { low = middle + 1 } else { high = middle }
    }
    events.insert(event, at: low)
  }

  // MARK: - Time

  /// From origin to first appearance, milliseconds: median 14 min, a tenth over 12 h.
  private mutating func delay() -> Int64 {
    let minutes = exp(log(14) + random.normal() * 3.07)
    return Int64(min(max(minutes, 0.7), 20 * 1440) * Double(Self.minute))
  }

  private mutating func mainShock(before end: Int64) -> SimulatedEvent {
    let time = end - Int64(random.unit() * span)
    var event = generator.event(.anywhere, time: time, appeared: time, random: &random)
    event.magnitude = max(event.magnitude ?? 0, 3) + 1
    return event
  }

  /// The time of an aftershock after Omori's law; nil if it is in the future.
  private mutating func aftershockTime(of main: SimulatedEvent, before end: Int64) -> Int64? {
    let days = 0.02 * (exp(random.unit() * log(1 + span / Double(Self.day) / 0.02)) - 1)
    let time = main.time + Int64(days * Double(Self.day))
    return time < end ? time : nil
  }
}

extension Timestamp {
  /// The year in UTC.
  var calendarYear: Int {
    Int(description.prefix(4)) ?? 1970
  }
}
