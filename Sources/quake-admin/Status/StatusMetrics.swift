import CommandLine
import QuakeHistory
import QuakeModel
import QuakeWorker
import SystemClock

/// The status as metrics for Prometheus: seconds, bytes and ratios, moments in seconds since
/// 1970-01-01T00:00:00Z.
struct StatusMetrics {
  private var metrics = MetricsText()

  /// What is said of a database that cannot be reached.
  static var unreachable: String {
    var metrics = MetricsText()
    up(false, &metrics)
    return metrics.text
  }

  /// What is said of a database of which nothing more can be read, because a session holds a lock.
  static var blocked: String {
    var metrics = MetricsText()
    up(true, &metrics)
    metrics.gauge("quake_problems", problemsHelp, [.init(1)])
    return metrics.text
  }

  private static let problemsHelp = "How many problems quake-admin status sees."

  var text: String { metrics.text }

  init(_ report: StatusReport, problems: Int) {
    Self.up(true, &metrics)
    metrics.gauge(
      "quake_database_info", "What the database is.",
      [
        .init(
          1,
          [
            "server_version": report.serverVersion,
            "embedded": report.embedded == nil ? "false" : "true",
          ])
      ])
    metrics.gauge(
      "quake_database_standby", "Whether the database is a hot standby.",
      [.init(report.isStandby ? 1 : 0)])
    metrics.gauge(
      "quake_schema_version", "How many migrations have been applied.",
      [.init(report.schemaVersion.map(Double.init))])
    metrics.gauge(
      "quake_schema_pending_migrations", "How many migrations this program has besides.",
      [.init(report.schemaFault == nil ? Double(report.pending.count) : nil)])
    guard let store = report.store else { return }
    metrics.gauge(
      "quake_problems", Self.problemsHelp, [.init(Double(problems))])
    describeFeeds(store)
    describeHistory(store)
    describeWatchers(store)
    describeSizes(store)
  }

  private static func up(_ isUp: Bool, _ metrics: inout MetricsText) {
    metrics.gauge(
      "quake_up", "Whether the database could be reached.", [.init(isUp ? 1 : 0)])
  }

  private mutating func describeFeeds(_ store: StoreStatus) {
    func each(
      _ name: String, _ help: String, _ value: (StoreStatus.Feed) -> Double?
    ) {
      metrics.gauge(
        "quake_feed_" + name, help, store.feeds.map { .init(value($0), ["feed": $0.name]) })
    }
    each("held", "Whether a worker polls the feed.") { $0.isHeld ? 1 : 0 }
    each("last_poll_timestamp_seconds", "Last attempt.") { Self.seconds($0.polledAt) }
    each("last_success_timestamp_seconds", "Last attempt that succeeded.") {
      Self.seconds($0.succeededAt)
    }
    each("lag_seconds", "Time since the last attempt that succeeded.") {
      store.lag(of: $0)?.inSeconds
    }
    each("next_poll_timestamp_seconds", "When the next attempt is due.") {
      Self.seconds($0.nextDue)
    }
    each("generated_timestamp_seconds", "When the last snapshot taken was generated.") {
      Self.seconds($0.generated)
    }
    each("interval_seconds", "Time between two polls.") { $0.interval }
    each("consecutive_failures", "Failed attempts since the last that succeeded.") {
      Double($0.failures)
    }
  }

  private mutating func describeHistory(_ store: StoreStatus) {
    if let last = store.lastImport {
      metrics.gauge(
        "quake_last_import_timestamp_seconds", "When the newest import was done.",
        [.init(Self.seconds(last.finishedAt))])
      let counts = [
        ("inserted", last.inserted), ("updated", last.updated), ("unchanged", last.unchanged),
        ("rejected", last.rejected),
      ]
      metrics.gauge(
        "quake_last_import_records", "Records of the newest import, by what became of them.",
        counts.map { .init(Double($0.1), ["outcome": $0.0]) })
    }
    metrics.gauge(
      "quake_quarantined_imports", "Snapshots that were set aside and wait for a decision.",
      [.init(Double(store.quarantined))])
    metrics.gauge(
      "quake_newest_token", "Number of the newest token.",
      [.init(store.newest.map { Double($0.token.number) })])
    metrics.gauge(
      "quake_newest_token_timestamp_seconds", "When the newest token was given.",
      [.init(Self.seconds(store.newest?.at))])
    metrics.gauge(
      "quake_notification_queue_usage_ratio", "How full the server's notification queue is.",
      [.init(store.notificationQueueUsage)])
    metrics.gauge(
      "quake_lock_waits", "Sessions that have waited for a lock for longer than they should.",
      [.init(Double(store.lockWaits.count))])
    metrics.gauge(
      "quake_lock_wait_longest_seconds", "How long the longest of them has waited.",
      [.init(store.lockWaits.compactMap(\.seconds).max() ?? 0)])
  }

  private mutating func describeWatchers(_ store: StoreStatus) {
    func each(
      _ name: String, _ help: String, _ value: (DurableCursor.Status) -> Double?
    ) {
      metrics.gauge(
        "quake_watcher_" + name, help,
        store.watchers.map { .init(value($0), ["watcher": $0.name]) })
    }
    each("behind_transactions", "Transactions that the watcher has not handed over.") {
      Double($0.transactionsBehind)
    }
    each("behind_seconds", "How long the oldest of them has been waiting.") { $0.secondsBehind }
    each("expired", "Whether the history that the watcher needs was let go.") {
      $0.isExpired ? 1 : 0
    }
    each("last_seen_timestamp_seconds", "When the watcher's process was last heard of.") {
      Self.seconds($0.seenAt)
    }
  }

  private mutating func describeSizes(_ store: StoreStatus) {
    metrics.gauge(
      "quake_database_size_bytes", "Size of the database.", [.init(Double(store.databaseBytes))])
    metrics.gauge(
      "quake_table_size_bytes", "Size of a table, its indexes included.",
      store.tables.map { .init(Double($0.bytes), ["table": $0.name]) })
  }

  private static func seconds(_ moment: Timestamp?) -> Double? {
    moment.map { Double($0.microseconds) / 1e6 }
  }
}
