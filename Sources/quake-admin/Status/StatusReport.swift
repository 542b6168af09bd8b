import EmbeddedPostgres
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool
import QuakeWorker

/// What `quake-admin status` has found out.
struct StatusReport {
  /// Database and host.
  let address: String
  /// Folder of the embedded server; nil: the database is another.
  let embedded: String?
  /// Such as 15.18.
  let serverVersion: String
  /// Whether it is a hot standby.
  let isStandby: Bool
  /// How many migrations have been applied; nil: it is not known, see `schemaFault`.
  let schemaVersion: Int?
  /// The migrations that have not been.
  let pending: [String]
  /// Why the schema is none of this program's.
  let schemaFault: StoreError?
  /// Nil if the schema is not the one this program was built for.
  let store: StoreStatus?

  /// Asks a database how it is.
  ///
  /// - Parameters:
  ///   - feeds: The feeds to look at; none: all of them.
  ///   - limits: What is looked at more closely.
  init(
    _ connection: Connection, access: DatabaseAccess, feeds: [String], limits: StatusLimits,
    program: String
  ) throws {
    let server = try connection.execute(
      "select split_part(current_setting('server_version'), ' ', 1), pg_is_in_recovery()")
    address = connection.label
    embedded = access.embedded?.options.home
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
  /// How long ago a moment was, by the server's clock.
  func age(of moment: Timestamp) -> Duration {
    let (age, overflow) = time.microseconds.subtractingReportingOverflow(moment.microseconds)
    return .microseconds(overflow ? (moment > time ? .min : .max) : age)
  }

  /// How long ago a feed was last polled with success; nil: never.
  func lag(of feed: Feed) -> Duration? { feed.succeededAt.map { age(of: $0) } }
}
