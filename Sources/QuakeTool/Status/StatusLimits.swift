internal import Basics
internal import CommandLine
internal import QuakeConsumers
internal import QuakeHistory
internal import QuakeModel
package import QuakeWorker

/// The limits beyond which `quake-admin status` reports a problem.
package struct StatusLimits: Sendable {
  /// The longest time since the last successful poll of a feed; nil: a multiple of its interval.
  package let feedLag: Duration?
  /// The longest time that a named watcher may be behind.
  package let watcherLag: Duration
  /// The largest used share of the notification queue, 0 to 1.
  package let queueShare: Double

  /// Up to this time, a pause that a server asks for is usual.
  private static let longestPause = Duration.seconds(3 * 3600)

  package struct Problem: Equatable, Sendable {
    package let message: String
    package var detail: String?
    package var hint: String?
  }

  package init(
    feedLag: Duration? = nil, watcherLag: Duration = .seconds(3600),
    queueShare: Double = NotificationQueue.standardLimit
  ) {
    self.feedLag = feedLag
    self.watcherLag = watcherLag
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
    [
      report.changes.map(Self.problem(_:)), report.server.region.flatMap(Self.problem(of:)),
      report.isStandby ? nil : Self.problem(of: report.server.slots),
    ].compactMap { $0 } + problemsOfStore(in: report) + problemsOfConsumers(in: report)
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

  private func fullness(of store: StoreStatus) -> Problem {
    let percent = Readable.decimal(store.notificationQueueUsage * 100, places: 1)
    let suspects = store.notificationQueueSuspects.map(\.words)
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

  /// Whether a feed whose last poll succeeded is not due yet, or has been due for less than the limit allows: its server
  /// may ask for a longer pause than the interval.
  private func isOnSchedule(_ feed: StoreStatus.Feed, in store: StoreStatus) -> Bool {
    guard feedLag == nil, feed.failures == 0, let due = feed.nextDue, let interval = feed.interval
    else { return false }
    return store.age(of: due) < limit(for: feed) - Duration(lag: interval)
  }

  private func lateness(of feed: StoreStatus.Feed, in store: StoreStatus) -> Problem? {
    let words: String
    if let lag = store.lag(of: feed) {
      // The interval is that of a worker which polls until it is stopped.
      let isPolledOnce = !feed.isHeld && feed.endedAt != nil && feedLag == nil && feed.failures == 0
      guard lag > limit(for: feed), !isPolledOnce, !isOnSchedule(feed, in: store) else {
        return nil
      }
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

extension StatusLimits {
  /// The problem of slots of a primary whose readers have read more than it has; nil if there are none.
  package static func problem(of slots: [ServerFigures.Slot]) -> Problem? {
    let ahead = slots.filter { $0.behindBytes ?? 0 < 0 }.map(\.name)
    guard !ahead.isEmpty else { return nil }
    return Problem(
      message:
        "the reader of slot \(ahead.joined(separator: ", ")) has read more than this server has, and skips what is committed now",
      hint: """
        This server was restored, or has lost transactions in a failover. Set the reader up anew: for a region run \
        "quake-admin region create NAME --centre URL --anew" there.
        """)
  }
}

extension StatusLimits {
  /// How far a region may be behind its centre, which sends a keepalive each 30 seconds.
  private static let regionLag = Duration.seconds(90)

  /// The problem of a database that is this region; nil if there is none.
  package static func problem(of region: ServerFigures.Region) -> Problem? {
    let check = "\"quake-admin region check\" says what to do."
    guard region.isSubscribed else {
      return Problem(
        message: "region \(region.name) has no subscription, and gets nothing from its centre",
        hint: """
          "quake-admin region create \(region.name) --anew" copies the centre anew; "quake-admin region drop" makes \
          this an ordinary database.
          """)
    }
    guard region.hasTables else {
      return Problem(
        message:
          "the subscription of region \(region.name) lacks tables, and skips what its centre commits to them",
        hint: """
          It is so after pg_upgrade from a version before 17: "quake-admin region create \(region.name) --anew" \
          copies the centre anew. In a restored backup of the region, run "quake-admin region drop --centre-lost" \
          instead.
          """)
    }
    guard region.isEnabled else {
      return Problem(
        message: "the subscription of region \(region.name) is disabled",
        hint: """
          Run "alter subscription quake_region_\(region.name) enable" when its reason is mended. In a restored \
          backup of the region, run "quake-admin region drop --centre-lost" instead.
          """)
    }
    if region.copying > 0 {
      return Problem(
        message:
          "region \(region.name) is being copied: \(Readable.count(region.copying, "table")) to go",
        hint: "Readers are served after that; \(check)")
    }
    guard let lag = region.lagSeconds else {
      let failures =
        region.errors == 0
        ? "" : "; its workers have failed \(Readable.count(Int(region.errors), "time"))"
      return Problem(
        message: "region \(region.name) is not connected to its centre\(failures)",
        hint: "The log of this server has the reason; \(check)")
    }
    guard Duration(lag: lag) > regionLag else { return nil }
    return Problem(
      message:
        "region \(region.name) is \(Readable.duration(Duration(lag: lag))) behind its centre",
      hint: "Look at the network, and at the disk and the load of this server; \(check)")
  }
}

extension StatusLimits {
  /// The problems of consumers. One that somebody has paused is none.
  package func problemsOfConsumers(in report: StatusReport) -> [Problem] {
    (report.consumers ?? []).flatMap { problems(of: $0) }
  }

  private func problems(of consumer: ConsumerStatus) -> [Problem] {
    var problems: [Problem] = []
    let isPaused = consumer.pausedAt != nil
    if !consumer.isRun, !isPaused {
      let silence = Readable.duration(consumer.age(of: consumer.cursor.seenAt))
      let start =
        consumer.isRemote
        ? "its client"
        : consumer.program.map { "program \"\($0)\"" }
          ?? "\"quake-watch run\" with its configuration"
      problems.append(
        Problem(
          message: consumer.isRemote
            ? "the client of consumer \(consumer.name) has acknowledged nothing for \(silence)"
            : "no process has run consumer \(consumer.name) for \(silence)",
          hint: """
            Start \(start). "quake-admin consumers remove" removes one that is no longer used.
            """))
    }
    if consumer.parked > 0 {
      problems.append(
        Problem(
          message: """
            consumer \(consumer.name) has parked \(Readable.count(consumer.parked, "message")), which it does not \
            try again
            """,
          detail: consumer.isFailing ? consumer.error : nil,
          hint: """
            "quake-admin consumers show" has the reasons; "retry" and "discard" decide what becomes of them.
            """))
    }
    if let oldest = consumer.oldestOwedAt, !isPaused, consumer.age(of: oldest) > watcherLag {
      problems.append(
        Problem(
          message: """
            consumer \(consumer.name) owes \(Readable.count(consumer.owed, "message")), the oldest for \
            \(Readable.duration(consumer.age(of: oldest)))
            """,
          detail: consumer.isFailing ? consumer.error : nil,
          hint: "Its receiver is down or slow: see \"quake-admin consumers show\"."))
    }
    return problems
  }
}
