internal import Basics
internal import CommandLine
package import Postgres
package import QuakeConsumers
internal import QuakeHistory
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
  /// The consumers; nil for strangers, and if the schema is not the one of this program.
  package let consumers: [ConsumerStatus]?
  /// What the server shows of its slots, its standbys and its disk.
  package let server: ServerFigures
  /// What somebody has done to the schema; nil if nothing.
  package let changes: SchemaChanges?

  /// Changes of the schema that no migration makes.
  package struct SchemaChanges {
    /// How many there are.
    package let count: Int
    /// The first three, as phrases; empty for strangers, since names of roles may be in them.
    package let named: [String]
  }

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
    var store = try StoreStatus.read(
      over: connection, lockWait: limits.lockWait, queueShare: limits.queueShare)
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

/// The limits beyond which `quake-admin status` reports a problem.
package struct StatusLimits: Sendable {
  /// The longest time since the last successful poll of a feed; nil: a multiple of its interval.
  package let feedLag: Duration?
  /// The longest time that a named watcher may be behind.
  package let watcherLag: Duration
  /// The longest time that a session may wait for a lock.
  package let lockWait: Duration
  /// The largest used share of the notification queue, 0 to 1.
  package let queueShare: Double

  /// Up to this time, a pause that a server asks for is usual.
  private static let longestPause = Duration.seconds(3 * 3600)

  /// A problem that needs a person's attention.
  package struct Problem: Equatable, Sendable {
    package let message: String
    package var detail: String?
    package var hint: String?
  }

  package init(
    feedLag: Duration? = nil, watcherLag: Duration = .seconds(3600),
    lockWait: Duration = .seconds(3), queueShare: Double = NotificationQueue.standardLimit
  ) {
    self.feedLag = feedLag
    self.watcherLag = watcherLag
    self.lockWait = lockWait
    self.queueShare = queueShare
  }

  /// The limit for a feed: three intervals, at least one minute; ten minutes if its interval is unknown.
  package func limit(for feed: StoreStatus.Feed) -> Duration {
    if let feedLag { return feedLag }
    guard let interval = feed.interval, interval < 1e9 else { return .seconds(600) }
    return max(.seconds(60), Duration(lag: interval * 3))
  }

  /// All problems, if the schema is one that this program knows.
  package func problems(in report: StatusReport) -> [Problem] {
    (report.changes.map { [Self.problem($0)] } ?? []) + problemsOfRegion(in: report.server)
      + problemsOfStore(in: report) + problemsOfConsumers(in: report)
  }

  /// All problems except those of the schema, of a region and of consumers.
  package func problemsOfStore(in report: StatusReport) -> [Problem] {
    guard let store = report.store else { return [] }
    var problems: [Problem] = []
    for feed in store.feeds where feed.pause == nil {
      // A standby does not have the locks of its primary. A feed that was polled once needs no worker.
      if !feed.isHeld, feed.endedAt == nil, !report.isStandby {
        problems.append(
          Problem(
            message: "no worker polls feed \(feed.name)",
            hint: """
              Start "quake-ingest run". "quake-admin feeds forget" forgets a feed that is no longer \
              polled, and "quake-admin feeds pause" pauses one.
              """))
      }
      if let problem = Self.move(of: feed) { problems.append(problem) }
      if let problem = lateness(of: feed, in: store) ?? distance(of: feed, in: store) {
        problems.append(problem)
      }
    }
    for watcher in store.watchers {
      if watcher.isExpired {
        problems.append(
          Problem(
            message: "watcher \(watcher.name) has expired: the history after its cursor was purged",
            hint: "It must start anew; \"quake-admin watchers remove\" removes it."))
      } else if watcher.secondsBehind > watcherLag.inSeconds {
        let behind = Readable.duration(Duration(lag: watcher.secondsBehind))
        problems.append(
          Problem(
            message: """
              watcher \(watcher.name) is \(behind) and \
              \(Readable.count(watcher.transactionsBehind, "transaction")) behind
              """,
            hint: "A watcher that no longer runs prevents purges: see \"quake-admin watchers\"."))
      }
    }
    problems += store.lockWaits.map(Self.problem)
    if store.notificationQueueUsage >= queueShare { problems.append(fullness(of: store)) }
    return problems
  }

  private static func problem(_ changes: StatusReport.SchemaChanges) -> Problem {
    let named = changes.named.joined(separator: "; ")
    let others = changes.count - changes.named.count
    return Problem(
      message: "the schema was changed in \(Readable.count(changes.count, "place"))",
      detail: named.isEmpty ? nil : others > 0 ? "\(named); and \(others) more." : "\(named).",
      hint: """
        "quake-admin roles check" lists them, with --json also the statements that undo them. The history may \
        lack what was written meanwhile.
        """)
  }

  private static func problem(_ wait: LockWait) -> Problem {
    let text = LockWaitText(wait)
    return Problem(
      message: "\(LockWaitText.words(for: wait.waiter)) is \(text.message)", detail: text.detail,
      hint: text.hint)
  }

  private func fullness(of store: StoreStatus) -> Problem {
    let percent = Readable.decimal(store.notificationQueueUsage * 100, places: 1)
    let suspects = store.notificationQueueSuspects.map { LockWaitText.words(for: $0) }
    return Problem(
      message: "the server's notification queue is \(percent) % full",
      detail: suspects.isEmpty
        ? "No session that stays in a transaction or does not read is visible to this role."
        : "Most likely pinned by \(suspects.joined(separator: "; ")).",
      hint: """
        When the queue is full, commits that send a notification fail. A listener that stays in a \
        transaction, or does not read, pins the queue; pg_terminate_backend() ends its session.
        """)
  }

  /// The problem that the server of a feed redirects to another address, and may stop to do so.
  private static func move(of feed: StoreStatus.Feed) -> Problem? {
    feed.movedTo.map { address in
      Problem(
        message: "the server of feed \(feed.name) redirects to \(address)",
        hint: feed.failures == 0
          ? "Poll that address: name it in --feed or in the configuration file of the worker."
          : "The last request failed, perhaps there: find out the right address, and name that."
      )
    }
  }

  /// The problem that the next poll of a feed is far away, because its server asked for that or a clock was wrong.
  private func distance(of feed: StoreStatus.Feed, in store: StoreStatus) -> Problem? {
    guard let due = feed.nextDue, feed.isHeld || feed.endedAt == nil else { return nil }
    let wait = Duration.zero - store.age(of: due)
    guard wait > max(limit(for: feed), Self.longestPause) else { return nil }
    return Problem(
      message: "feed \(feed.name) is not polled again for \(Readable.duration(wait))",
      detail: "Its server asked for that (Cache-Control, Expires), or a clock was wrong.",
      hint: """
        "quake-admin refresh \(feed.name)" has it polled now; "quake-admin feeds show" prints its times.
        """)
  }

  private func lateness(of feed: StoreStatus.Feed, in store: StoreStatus) -> Problem? {
    let words: String
    if let lag = store.lag(of: feed) {
      // The interval is that of a worker which polls until it is stopped.
      let isPolledOnce = !feed.isHeld && feed.endedAt != nil && feedLag == nil && feed.failures == 0
      guard lag > limit(for: feed), !isPolledOnce else { return nil }
      words = "has not been polled successfully for \(Readable.duration(lag))"
    } else {
      words = "has never been polled successfully"
    }
    let failures =
      feed.failures > 0 ? " (\(Readable.count(feed.failures, "failure")) in a row)" : ""
    return Problem(
      message: "feed \(feed.name) \(words)\(failures)",
      detail: feed.error,
      hint: "The limit is \(Readable.duration(limit(for: feed))); --max-lag sets another.")
  }
}
