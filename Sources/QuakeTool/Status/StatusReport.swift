internal import Basics
package import Postgres
package import QuakeConsumers
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
  package let isStandby: Bool
  /// Number of applied migrations; nil if unknown, see `schemaFault`.
  package let schemaVersion: Int?
  package let pending: [String]
  /// Why this program cannot use the schema; nil if it can.
  package let schemaFault: StoreError?
  /// The state of the store; nil if the schema is not the one of this program.
  package let store: StoreStatus?
  /// The consumers; nil for strangers, and if the schema is not the one of this program.
  package let consumers: [ConsumerStatus]?
  /// What the server shows of its slots, its standbys and its disk.
  package let server: ServerFigures
  /// What somebody has done to the schema; nil if nothing.
  package let changes: SchemaChanges?

  /// Changes of the schema that no migration makes.
  package struct SchemaChanges {
    package let count: Int
    /// The first three, as phrases; empty for strangers, since names of roles may be in them.
    package let named: [String]
  }

  /// Queries the state of a database.
  ///
  /// - Parameters:
  ///   - embedded: Folder of the embedded server; nil if the database is not embedded.
  ///   - feeds: The feeds to report; empty for all.
  ///   - limits: The limits beyond which the notification queue is examined.
  package init(
    _ connection: Connection, embedded: String?, feeds: [String], limits: StatusLimits,
    program: String
  ) throws {
    self = try connection.transaction(readOnly: true) {
      // Reading a table's size needs a lock on it. The timeout is long enough for LockWaits to report the wait.
      try connection.execute("select pg_catalog.set_config('lock_timeout', '5s', true)")
      return try StatusReport(
        reading: connection, embedded: embedded, feeds: feeds, limits: limits, program: program)
    }
  }

  private init(
    reading connection: Connection, embedded: String?, feeds: [String], limits: StatusLimits,
    program: String
  ) throws {
    (serverVersion, isStandby) = try connection.row(
      "select split_part(current_setting('server_version'), ' ', 1), pg_is_in_recovery()",
      as: (String, Bool).self)
    address = connection.label
    server = try ServerFigures(over: connection)
    self.embedded = embedded
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
      changes = nil
      consumers = nil
      return
    }
    let deviations =
      try SchemaDeviation.all(over: connection).filter { !$0.isNote }
      + SchemaDeviation.rights(over: connection)
    changes =
      deviations.isEmpty
      ? nil : SchemaChanges(count: deviations.count, named: deviations.prefix(3).map(\.text))
    var store = try StoreStatus.read(over: connection, queueShare: limits.queueShare)
    if !feeds.isEmpty { store.feeds.removeAll { !feeds.contains($0.name) } }
    self.store = store
    consumers = try ConsumerStatus.list(over: connection)
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

extension StatusReport {
  /// The report for strangers: without database roles, process ids, the addresses of clients and of the database,
  /// folders and consumers.
  package var withoutSessions: StatusReport { StatusReport(hidingSessionsOf: self) }

  private init(hidingSessionsOf report: StatusReport) {
    address = ""
    server = report.server
    embedded = nil
    serverVersion = report.serverVersion
    isStandby = report.isStandby
    schemaVersion = report.schemaVersion
    pending = report.pending
    schemaFault = report.schemaFault
    consumers = nil
    store = report.store?.withoutSessions
    changes = report.changes.map { SchemaChanges(count: $0.count, named: []) }
  }
}

extension StoreStatus {
  fileprivate var withoutSessions: StoreStatus {
    var store = self
    store.feeds = feeds.map { feed in
      var feed = feed
      feed.holderPID = nil
      feed.holderAddress = nil
      feed.pause = feed.pause.map { FeedPause(by: "", since: $0.since) }
      return feed
    }
    store.notificationQueueSuspects = notificationQueueSuspects.map(\.withoutIdentity)
    return store
  }
}

extension DatabaseSession {
  fileprivate var withoutIdentity: DatabaseSession {
    var session = self
    session.processID = nil
    session.role = nil
    session.client = nil
    return session
  }
}
