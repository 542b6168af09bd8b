package import QuakeModel

package struct SimulatorOptions: Sendable {
  /// The seed of the catalogue. The same seed gives the same catalogue.
  package var seed: UInt64 = 1
  /// How many events the catalogue begins with: 0 to 200,000.
  package var events = 11_000
  /// How many days before the start the first events lie: 1 to 36,500.
  package var days = 30
  package var start = SimulationStart.now
  /// Changes a minute of wall time, on average: 0 (frozen) to 600,000.
  package var rate: Double = 60
  /// The port on 127.0.0.1: 1 to 65535, or 0 for any that is free.
  package var port = 0
  /// The seconds for which clients may cache an answer, and for which the server does: 0 or more.
  package var maxAge = 60
  /// A query may not match more events than this: 1 to 20,000.
  package var queryLimit = SimulatorQuery.maximumCount
  /// Whether the FDSN service answers `count`, as USGS's does and most others do not.
  package var answersCounts = true
  /// Whether the FDSN service takes a `limit`, as GeoNet's does not.
  package var takesLimit = true
  /// Recurring faults. If two apply to an answer, the first one does.
  package var faults: [ScheduledFault] = []
  /// The clock; tests replace it.
  package var now: @Sendable () -> Timestamp = { Timestamp.now() }

  /// The defaults: 11,000 events, a change a second, any free port.
  package init() {}
}

/// When a simulated catalogue begins.
///
/// The first events lie before this instant, and all changes are derived from it: two simulators with the same
/// seed, options and start serve the same events, times and links at the same moment.
package enum SimulationStart: Sendable, Equatable {
  /// When the simulator starts: each run has a catalogue of its own.
  case now
  /// A moment that runs of the same hour share: the last full hour, or at high rates a later minute or second.
  case shared
  /// This instant, which must not be in the future.
  case at(Timestamp)

  /// The most changes since a shared beginning: a simulator repeats them in a fraction of a second.
  private static let sharedChanges = 22_000.0
  /// The most changes since a given start. Those before do not happen.
  private static let repeatedChanges = 200_000.0
  /// Seconds between shared beginnings, the longest first.
  private static let periods: [Int64] = [3_600, 600, 60, 10, 1]

  /// Seconds between the shared beginnings at `rate` changes a minute.
  private static func period(rate: Double) -> Int64 {
    periods.first { Double($0) / 60 * rate <= sharedChanges } ?? 1
  }

  /// The beginning that simulators share which start at `instant`, for those that start later.
  package static func shared(at instant: Timestamp, rate: Double) -> SimulationStart {
    .at(sharedBeginning(before: instant, rate: rate))
  }

  /// The last shared beginning before `now`, at `rate` changes a minute.
  static func sharedBeginning(before now: Timestamp, rate: Double) -> Timestamp {
    let period = period(rate: rate)
    let seconds = now.milliseconds / 1000
    return Timestamp(microseconds: (seconds - seconds % period) * 1_000_000)
  }

  /// The instant that the first events precede.
  func instant(now: Timestamp, rate: Double) -> Timestamp {
    switch self {
    case .now: now
    case .shared: Self.sharedBeginning(before: now, rate: rate)
    case .at(let instant): instant
    }
  }

  func firstChange(now: Timestamp, rate: Double) -> Timestamp {
    guard case .at(let instant) = self, rate > 0 else { return instant(now: now, rate: rate) }
    let repeated = Int64(Self.repeatedChanges / rate * 60) * 1_000_000
    let earliest = Timestamp(microseconds: now.microseconds - repeated)
    return max(instant, Self.sharedBeginning(before: earliest, rate: rate))
  }

  /// Milliseconds by which the first events span less than their days, so that none of them leaves the feeds
  /// before the next shared beginning.
  func margin(rate: Double) -> Int64 {
    self == .now ? 0 : Self.period(rate: rate) * 1000
  }
}

extension Timestamp {
  /// Milliseconds since 1970, as feeds count.
  var milliseconds: Int64 { microseconds / 1000 }
}
