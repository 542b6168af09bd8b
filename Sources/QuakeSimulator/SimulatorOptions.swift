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
}
