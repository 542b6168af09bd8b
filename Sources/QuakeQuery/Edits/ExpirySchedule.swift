internal import Basics
package import Postgres

/// When workers expire old events, in `quake.expiry`: one worker at a time.
package struct ExpirySchedule {
  private let connection: Connection
  /// A text of this worker alone.
  private let holder: String

  /// How long a worker that does not report any more keeps the others away.
  private static let lease: SQL = "interval '1 minute'"

  /// The schedule in the database of `connection`, for the worker of that random text.
  package init(holder: String, over connection: Connection) {
    self.connection = connection
    self.holder = holder
  }

  /// Takes the lease if expiry is due and no other worker holds it. This worker keeps it until
  /// `end`, or until it has not reported for a minute. Returns whether it has the lease.
  package func begin() throws(PostgresError) -> Bool {
    try connection.execute(
      """
      update quake.expiry e
         set holder = \(holder), held_until = clock_timestamp() + \(sql: Self.lease)
       where (e.holder is null or e.holder = \(holder) or e.held_until < clock_timestamp())
         and (e.next_due is null or e.next_due <= clock_timestamp() or e.holder = \(holder))
      """
    ).affectedRows > 0
  }

  /// Reports that the worker still expires events. Returns whether no other has taken over.
  package func report() throws(PostgresError) -> Bool {
    try connection.execute(
      """
      update quake.expiry e set held_until = clock_timestamp() + \(sql: Self.lease)
       where e.holder = \(holder)
      """
    ).affectedRows > 0
  }

  /// Lets other workers expire events again.
  ///
  /// - Parameter pause: The time until the next look for old events; nil: the work is not finished.
  package func end(nextIn pause: Duration?) throws(PostgresError) {
    try connection.execute(
      """
      update quake.expiry e
         set holder = null, held_until = null,
             next_due = clock_timestamp() + make_interval(secs => \(pause?.inSeconds ?? 0))
       where e.holder = \(holder)
      """)
  }
}
