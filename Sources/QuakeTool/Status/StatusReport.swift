internal import Basics
package import Postgres
package import QuakeModel
internal import QuakeSchema
package import QuakeWorker

/// The state of a database, as `quake-admin status` reports it.
package struct StatusReport {
  /// Database and host.
  package let address: String
  /// Folder of the embedded server; nil if the database is not embedded.
  package let embedded: String?
  /// The server's version, such as 15.18.
  package let serverVersion: String
  /// Whether it is a hot standby.
  package let isStandby: Bool
  /// Number of applied migrations; nil if unknown, see `schemaFault`.
  package let schemaVersion: Int?
  /// The migrations that are not applied.
  package let pending: [String]
  /// Why this program cannot use the schema; nil if it can.
  package let schemaFault: StoreError?
  /// The state of the store; nil if the schema is not the one of this program.
  package let store: StoreStatus?

  /// Queries the state of a database.
  ///
  /// - Parameters:
  ///   - embedded: Folder of the embedded server; nil if the database is not embedded.
  ///   - feeds: The feeds to report; empty for all.
  ///   - limits: The limits beyond which lock waits and the notification queue are examined.
  package init(
    _ connection: Connection, embedded: String?, feeds: [String], limits: StatusLimits,
    program: String
  ) throws {
    let server = try connection.execute(
      "select split_part(current_setting('server_version'), ' ', 1), pg_is_in_recovery()")
    address = connection.label
    self.embedded = embedded
    serverVersion = server.text(0, 0) ?? ""
    isStandby = server.bool(0, 1) ?? false
    do {
      let migrations = try Migrator(connection: connection, program: program).status()
      schemaVersion = migrations.count { $0.appliedAt != nil }
      pending = migrations.filter { $0.appliedAt == nil }.map { "\($0.version) (\($0.name))" }
      schemaFault = nil
    } catch let error as StoreError where error.kind == .schema {
      (schemaVersion, pending, schemaFault) = (nil, [], error)
    }
    guard schemaFault == nil, pending.isEmpty else {
      store = nil
      return
    }
    var store = try StoreStatus.read(
      over: connection, lockWait: limits.lockWait, queueShare: limits.queueShare)
    if !feeds.isEmpty { store.feeds.removeAll { !feeds.contains($0.name) } }
    self.store = store
  }
}

extension StoreStatus {
  /// The time since `moment`, by the server's clock.
  package func age(of moment: Timestamp) -> Duration {
    let (age, overflow) = time.microseconds.subtractingReportingOverflow(moment.microseconds)
    return .microseconds(overflow ? (moment > time ? .min : .max) : age)
  }

  /// The time since the last successful poll of a feed; nil if there was none.
  package func lag(of feed: Feed) -> Duration? { feed.succeededAt.map { age(of: $0) } }
}
