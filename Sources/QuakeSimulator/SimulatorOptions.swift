package import QuakeModel

/// The options of the simulator.
package struct SimulatorOptions: Sendable {
  /// The seed of the catalogue. The same seed gives the same catalogue.
  package var seed: UInt64 = 1
  /// How many events the catalogue begins with: 0 to 200,000.
  package var events = 11_000
  /// How many days before the start the first events lie: 1 to 36,500.
  package var days = 30
  /// When the catalogue begins.
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

  /// The largest catalogue that is held in memory.
  static let maximumEvents = 200_000

  func validate() throws(SimulatorError) {
    func require(_ condition: Bool, _ message: String, _ hint: String) throws(SimulatorError) {
      if !condition { throw SimulatorError(message, hint: hint) }
    }
    try require(
      (0...Self.maximumEvents).contains(events), "cannot simulate \(events) events",
      "A served catalogue has 0 to 200000 events; write more than that to a file.")
    try require(
      (1...36_500).contains(days), "cannot simulate \(days) days",
      "The first events may lie 1 to 36500 days back.")
    try require(
      (1...SimulatorQuery.maximumCount).contains(queryLimit),
      "cannot limit queries to \(queryLimit) events", "The limit must be from 1 to 20000.")
    try require(
      rate >= 0 && rate <= 600_000, "cannot simulate \(rate) changes per minute",
      "The rate must be from 0 (frozen) to 600000.")
    try require(
      (0...65535).contains(port), "cannot listen on port \(port)",
      "The port must be from 1 to 65535, or 0 for any that is free.")
    if case .at(let instant) = start {
      try require(
        instant <= now(), "cannot start a simulation at \(instant)",
        "The start must not be in the future.")
    }
    try require(
      (0...86400).contains(maxAge), "cannot let answers be kept for \(maxAge) seconds",
      "The age must be from 0 to 86400 seconds.")
  }
}
