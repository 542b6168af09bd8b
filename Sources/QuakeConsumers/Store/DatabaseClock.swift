internal import Basics
package import Postgres
package import QuakeModel

/// The clock of the database, by which conversations are due. That of this machine may differ.
package struct DatabaseClock: Sendable {
  /// Between the database's clock and the monotonic one, in microseconds.
  private var difference: Int64 = 0
  private var askedAt = Duration.zero
  private var isKnown = false

  /// How long it counts by itself.
  private static let trust = Duration.seconds(10)

  /// Asks nothing yet.
  package init() {}

  /// The time. Every few seconds it asks the database.
  package mutating func now(over connection: Connection) throws(PostgresError) -> Timestamp {
    if !isKnown || MonotonicClock.now() - askedAt >= Self.trust {
      let time = try connection.row(
        "select clock_timestamp()", format: .binary, as: Timestamp.self)
      askedAt = MonotonicClock.now()
      difference = time.microseconds - askedAt.wholeMicroseconds
      isKnown = true
    }
    return Timestamp(microseconds: MonotonicClock.now().wholeMicroseconds + difference)
  }
}
