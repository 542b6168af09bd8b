import Basics
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool
import QuakeWorker

/// The status as metrics for Prometheus: seconds, bytes and ratios, moments in seconds since
/// 1970-01-01T00:00:00Z.
struct StatusMetrics {
  private var metrics = PrometheusText()

  /// The metrics for a database that cannot be reached.
  static var unreachable: String {
    var metrics = PrometheusText()
    up(false, &metrics)
    return metrics.text
  }

  /// The metrics for a database whose status cannot be read because a session holds a lock.
  static var blocked: String {
    var metrics = PrometheusText()
    up(true, &metrics)
    metrics.gauge("quake_problems", problemsHelp, 1)
    return metrics.text
  }

  private static let problemsHelp = "Number of problems that quake-admin status reports."

  var text: String { metrics.text }

  init(_ report: StatusReport, problems: Int) {
    metrics.buildInfo()
    Self.up(true, &metrics)
    metrics.gauge(
      "quake_database_info", "Address and version of the database.",
      [
        .init(
          1,
          [
            "server_version": report.serverVersion,
            "embedded": report.embedded == nil ? "false" : "true",
          ])
      ])
    metrics.gauge(
      "quake_database_standby", "Whether the database is a hot standby.", report.isStandby ? 1 : 0)
    describe(report.server)
    metrics.gauge(
      "quake_schema_version", "Number of the newest applied migration.",
      report.schemaVersion.map(Double.init))
    metrics.gauge(
      "quake_schema_pending_migrations", "Migrations of this program that are not applied.",
      report.schemaFault == nil ? Double(report.pending.count) : nil)
    guard let store = report.store else { return }
    metrics.gauge("quake_problems", Self.problemsHelp, Double(problems))
    describeFeeds(store)
    describeHistory(store)
    describeWatchers(store)
    describe(report.consumers ?? [])
    describeSizes(store)
  }

  private static func up(_ isUp: Bool, _ metrics: inout PrometheusText) {
    metrics.gauge("quake_up", "Whether the database could be reached.", isUp ? 1 : 0)
    // A file that nobody writes any more shows the last state for ever.
    metrics.gauge("quake_status_timestamp_seconds", "When this status was read.", seconds(.now()))
  }

  private mutating func describe(_ server: ServerFigures) {
    metrics.gauge(
      "quake_slot_retained_wal_bytes", "WAL that a replication slot keeps.",
      server.slots.map { .init(Double($0.retainedBytes), ["slot": $0.name]) })
    metrics.gauge(
      "quake_slot_active", "Whether a replication slot is being read.",
      server.slots.map { .init($0.isActive ? 1 : 0, ["slot": $0.name]) })
    metrics.gauge(
      "quake_slot_behind_bytes", "WAL that the reader of a logical slot has not confirmed.",
      server.slots.map { .init($0.behindBytes.map(Double.init), ["slot": $0.name]) })
    metrics.gauge(
      "quake_slot_lag_seconds", "How far the reader of a logical slot is behind.",
      server.slots.map { .init($0.lagSeconds, ["slot": $0.name]) })
    server.region?.write(to: &metrics)
    metrics.gauge(
      "quake_standbys", "Standbys that are connected to this server.",
      Double(server.standbys.count))
    metrics.gauge(
      "quake_standby_lag_seconds", "How far a standby is behind.",
      server.standbys.map { .init($0.lagSeconds, ["standby": $0.name]) })
    metrics.gauge(
      "quake_standby_behind_bytes", "WAL that a standby has not replayed.",
      server.standbys.map { .init($0.behindBytes.map(Double.init), ["standby": $0.name]) })
    metrics.gauge(
      "quake_replication_receiving", "Whether this standby is connected to its primary.",
      server.ownLag.map { $0.isReceiving ? 1 : 0 })
    metrics.gauge(
      "quake_replication_lag_seconds", "How far this standby is behind its primary.",
      server.ownLag?.seconds)
    metrics.gauge(
      "quake_disk_free_bytes", "Free space on the disk of the database.", server.disk?.freeBytes)
    metrics.gauge(
      "quake_disk_free_ratio", "Free part of the disk of the database, 0 to 1.",
      server.disk?.freeShare)
  }

  private mutating func describeFeeds(_ store: StoreStatus) {
    func each(_ name: String, _ help: String, _ value: (StoreStatus.Feed) -> Double?) {
      metrics.gauge(
        "quake_feed_" + name, help, store.feeds.map { .init(value($0), ["feed": $0.name]) })
    }
    each("held", "Whether a worker polls the feed.") { $0.isHeld ? 1 : 0 }
    each("moved", "Whether the feed's server redirects for good, or to another host.") {
      $0.movedTo == nil ? 0 : 1
    }
    each("paused", "Whether the feed is paused.") { $0.pause == nil ? 0 : 1 }
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
    each("generated_timestamp_seconds", "When the last imported snapshot was generated.") {
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
        "quake_last_import_timestamp_seconds", "When the newest import finished.",
        Self.seconds(last.finishedAt))
      let counts = [
        ("inserted", last.inserted), ("updated", last.updated), ("unchanged", last.unchanged),
        ("rejected", last.rejected),
      ]
      metrics.gauge(
        "quake_last_import_records", "Records of the newest import, by result.",
        counts.map { .init(Double($0.1), ["outcome": $0.0]) })
    }
    metrics.gauge(
      "quake_quarantined_imports", "Quarantined snapshots, neither applied nor discarded.",
      Double(store.quarantined))
    metrics.gauge(
      "quake_simulated_events", "Simulated events in the store.",
      store.simulatedEvents.map(Double.init))
    metrics.gauge(
      "quake_newest_token", "Number of the newest token.",
      store.newest.map { Double($0.token.number) })
    metrics.gauge(
      "quake_newest_token_timestamp_seconds", "When the newest token was assigned.",
      Self.seconds(store.newest?.at))
    metrics.gauge(
      "quake_notification_queue_usage_ratio",
      "Used part of the server's notification queue, 0 to 1.",
      store.notificationQueueUsage)
  }

  private mutating func describeWatchers(_ store: StoreStatus) {
    func each(_ name: String, _ help: String, _ value: (DurableCursor.Status) -> Double?) {
      metrics.gauge(
        "quake_watcher_" + name, help, store.watchers.map { .init(value($0), ["watcher": $0.name]) }
      )
    }
    each("behind_transactions", "Transactions that the watcher has not delivered.") {
      Double($0.transactionsBehind)
    }
    each("behind_seconds", "Age of the oldest of them.") { $0.secondsBehind }
    each("expired", "Whether the history after the watcher's cursor was purged.") {
      $0.isExpired ? 1 : 0
    }
    each("last_seen_timestamp_seconds", "When the watcher's process last showed that it runs.") {
      Self.seconds($0.seenAt)
    }
  }

  private mutating func describe(_ consumers: [ConsumerStatus]) {
    func each(_ name: String, _ help: String, _ value: (ConsumerStatus) -> Double?) {
      metrics.gauge(
        "quake_consumer_" + name, help, consumers.map { .init(value($0), ["consumer": $0.name]) })
    }
    each("owed", "Messages that the consumer still has to deliver.") { Double($0.owed) }
    each("oldest_owed_seconds", "Age of the oldest of them.") { consumer in
      consumer.oldestOwedAt.map { consumer.age(of: $0).inSeconds } ?? 0
    }
    each("parked", "Messages whose delivery was given up.") { Double($0.parked) }
    each("lag_seconds", "Age of the oldest change that the receiver has not got.") {
      $0.lag.inSeconds
    }
    each("paused", "Whether the consumer is paused.") { $0.pausedAt == nil ? 0 : 1 }
    each("running", "Whether a process runs the consumer.") { $0.isRun ? 1 : 0 }
    each("failing", "Whether the last attempt failed.") { $0.isFailing ? 1 : 0 }
    each("last_delivery_timestamp_seconds", "When the receiver last took a message.") {
      Self.seconds($0.deliveredAt)
    }
    each("last_failure_timestamp_seconds", "When an attempt last failed.") {
      Self.seconds($0.failedAt)
    }
    metrics.counter(
      "quake_consumer_delivered_total", "Messages that the receiver has taken.",
      consumers.map { .init(Double($0.delivered), ["consumer": $0.name]) })
    metrics.counter(
      "quake_consumer_held_back_total", "Messages that the limit of the rate has dropped.",
      consumers.map { .init(Double($0.heldBack), ["consumer": $0.name]) })
  }

  private mutating func describeSizes(_ store: StoreStatus) {
    metrics.gauge("quake_database_size_bytes", "Size of the database.", Double(store.databaseBytes))
    metrics.gauge(
      "quake_table_size_bytes", "Size of a table, its indexes included.",
      store.tables.map { .init(Double($0.bytes), ["table": $0.name]) })
  }

  private static func seconds(_ moment: Timestamp?) -> Double? {
    moment.map { Double($0.microseconds) / 1e6 }
  }
}
