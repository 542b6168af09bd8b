import QuakeModel

/// The changing catalogue and its counters. One lock guards all of it.
struct SimulatorState: Sendable {
  struct Cached: Sendable {
    var body: [UInt8]
    /// Milliseconds since 1970.
    var generated: Int64
    /// The catalogue's steps when it was made.
    var steps: Int
    /// When the oldest event leaves the window: milliseconds since 1970.
    var validUntil: Int64
  }

  var catalogue: SimulatedCatalogue
  /// The catalogue as it was at the start, for stale answers.
  let first: SimulatedCatalogue
  /// Documents by the feed's name.
  var cache: [String: Cached] = [:]
  /// Requested faults that have not happened yet.
  var pendingFaults: [FaultKind] = []
  /// Answers of feeds and queries so far, which is what scheduled faults count.
  var feedAnswers = 0
  /// A request that was answered, and how.
  struct LoggedRequest: Sendable {
    /// When it came: milliseconds since 1970.
    var time: Int64
    /// Path and query.
    var target: String
    var status: UInt32
    /// The fault that the simulator made on purpose in the answer; nil: none.
    var fault: FaultKind?
  }

  /// The last requests of feeds and queries, the oldest first.
  private(set) var log: [LoggedRequest] = []
  /// The fault of the answer in progress.
  private var fault: FaultKind?
  private static let maximumLog = 10_000

  var faultyAnswers = 0

  private let interval: Double?
  private var schedule: SeededGenerator
  /// When the next change is due: milliseconds since 1970.
  private var nextChange: Double

  init(_ options: SimulatorOptions) {
    let now = options.now()
    catalogue = SimulatedCatalogue(
      seed: options.seed, events: options.events,
      now: options.start.instant(now: now, rate: options.rate), days: options.days,
      margin: options.start.margin(rate: options.rate))
    first = catalogue
    interval = options.rate > 0 ? 60_000 / options.rate : nil
    // A generator of its own, so that the changes depend only on the number of steps, not on their times.
    schedule = SeededGenerator(seed: options.seed ^ 0x5EED)
    nextChange = Double(options.start.firstChange(now: now, rate: options.rate).milliseconds)
    if let interval { nextChange += schedule.exponential() * interval }
  }

  /// Makes the changes that have become due, each at its own instant.
  mutating func catchUp(to now: Int64) {
    guard let interval else { return }
    while nextChange <= Double(now) {
      catalogue.step(at: Timestamp(microseconds: Int64(nextChange) * 1000))
      nextChange += schedule.exponential() * interval
    }
  }

  /// The fault of the next answer of a feed, if any.
  mutating func nextFault(_ scheduled: [ScheduledFault]) -> FaultKind? {
    feedAnswers += 1
    var fault: FaultKind?
    if pendingFaults.isEmpty {
      fault = scheduled.first { feedAnswers.isMultiple(of: $0.every) }?.kind
    } else {
      fault = pendingFaults.removeFirst()
    }
    if fault != nil { faultyAnswers += 1 }
    self.fault = fault
    return fault
  }

  mutating func note(_ target: String, status: UInt32, now: Int64) {
    if log.count >= Self.maximumLog { log.removeFirst(Self.maximumLog / 10) }
    log.append(LoggedRequest(time: now, target: target, status: status, fault: fault))
    fault = nil
  }
}
