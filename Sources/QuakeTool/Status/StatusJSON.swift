internal import Basics
package import QuakeConsumers
internal import QuakeHistory
package import QuakeModel
package import QuakeWorker

/// The status as one JSON object on one line.
package struct StatusJSON {
  private let report: StatusReport
  private let problems: [StatusLimits.Problem]

  package init(_ report: StatusReport, _ problems: [StatusLimits.Problem]) {
    self.report = report
    self.problems = problems
  }

  /// The object, and the end of the line.
  package var text: String {
    var json = JSONWriter()
    json.object { json in
      json.member("time", report.store?.time ?? .now())
      json.member("ok", problems.isEmpty && report.store != nil)
      json.member("problems", problems.map(\.message))
      json.object("database", database)
      json.object("schema", schema)
      json.key("region")
      if let region = report.server.region { region.write(to: &json) } else { json.null() }
      if let store = report.store { write(store, to: &json) }
    }
    json.newline()
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private func database(_ json: inout JSONWriter) {
    json.member("address", report.address.isEmpty ? nil : report.address)
    json.member("embedded", report.embedded)
    json.member("server_version", report.serverVersion)
    json.member("standby", report.isStandby)
  }

  private func schema(_ json: inout JSONWriter) {
    json.member("version", report.schemaVersion)
    json.member("pending", report.pending)
    json.member("error", report.schemaFault?.message)
  }

  private func write(_ store: StoreStatus, to json: inout JSONWriter) {
    json.array("feeds") { json in for feed in store.feeds { write(feed, store, to: &json) } }
    json.key("import")
    if let last = store.lastImport { Self.write(last, to: &json) } else { json.null() }
    json.member("quarantined", store.quarantined)
    json.member("simulated_events", store.simulatedEvents)
    json.member("token", store.newest?.token.description)
    json.member("token_at", store.newest?.at)
    json.member("token_age_seconds", store.newest.map { store.age(of: $0.at).inSeconds })
    json.array("watchers") { json in
      for watcher in store.watchers { Self.write(watcher, to: &json) }
    }
    json.key("consumers")
    if let consumers = report.consumers {
      json.array { json in for consumer in consumers { json.object { $0.members(of: consumer) } } }
    } else {
      json.null()
    }
    json.member("notification_queue_usage", store.notificationQueueUsage)
    json.object("notification_queue") { json in
      json.member("usage", store.notificationQueueUsage)
      json.array("holders") { json in
        for session in store.notificationQueueSuspects { session.write(to: &json) }
      }
    }
    json.member("bytes", store.databaseBytes)
    json.object("tables") { json in
      for table in store.tables {
        json.key(dynamic: table.name)
        json.integer(Int(table.bytes))
      }
    }
    json.member("growth_since", store.tables.compactMap(\.growth?.since).min())
    json.object("growth") { json in
      for table in store.tables {
        guard let growth = table.growth else { continue }
        json.key(dynamic: table.name)
        json.integer(Int(growth.bytes))
      }
    }
  }

  private func write(
    _ feed: StoreStatus.Feed, _ store: StoreStatus, to json: inout JSONWriter
  ) {
    json.object { $0.members(of: feed, lag: store.lag(of: feed)) }
  }

  private static func write(_ last: StoreStatus.LastImport, to json: inout JSONWriter) {
    json.object { json in
      json.member("id", last.id)
      json.member("feed", last.feed)
      json.member("finished_at", last.finishedAt)
      json.member("seen", last.seen)
      json.member("inserted", last.inserted)
      json.member("updated", last.updated)
      json.member("unchanged", last.unchanged)
      json.member("rejected", last.rejected)
    }
  }

  private static func write(_ watcher: DurableCursor.Status, to json: inout JSONWriter) {
    json.object { json in
      json.member("name", watcher.name)
      json.member("token", "\(watcher.cursor.token)")
      json.member("tokens_behind", watcher.transactionsBehind)
      json.member("seconds_behind", watcher.secondsBehind)
      json.member("seen_at", watcher.seenAt)
      json.member("expired", watcher.isExpired)
    }
  }
}

extension JSONWriter {
  /// Writes the members of a feed.
  ///
  /// - Parameter lag: The time since the last successful poll; nil if there was none.
  package mutating func members(of feed: StoreStatus.Feed, lag: Duration?) {
    member("name", feed.name)
    member("generated", feed.generated)
    member("polled_at", feed.polledAt)
    member("succeeded_at", feed.succeededAt)
    member("lag_seconds", lag?.inSeconds)
    member("interval_seconds", feed.interval)
    member("next_due", feed.nextDue)
    member("failures", feed.failures)
    member("error", feed.error)
    member("import", feed.lastImport)
    member("held", feed.isHeld)
    member("holder_pid", feed.holderPID)
    member("holder_application", feed.holderApplication)
    member("holder_address", feed.holderAddress)
    member("paused_at", feed.pause?.since)
    member("paused_by", feed.pause.flatMap { $0.role.isEmpty ? nil : $0.role })
    member("ended_at", feed.endedAt)
    member("moved_to", feed.movedTo)
  }

  package mutating func members(of consumer: ConsumerStatus) {
    member("name", consumer.name)
    member("sink", consumer.sink)
    member("alert", consumer.isAlerting)
    member("state", consumer.state.rawValue)
    member("running", consumer.isRun)
    member("paused_at", consumer.pausedAt)
    member("token", "\(consumer.cursor.cursor.token)")
    member("changes", consumer.cursor.cursor.changes)
    member("tokens_behind", consumer.cursor.transactionsBehind)
    member("lag_seconds", consumer.lag.inSeconds)
    member("owed", consumer.owed)
    member("oldest_owed_at", consumer.oldestOwedAt)
    member("parked", consumer.parked)
    member("delivered", consumer.delivered)
    member("messages_per_hour", consumer.rate)
    member("held_back", consumer.heldBack)
    member("delivered_at", consumer.deliveredAt)
    member("failed_at", consumer.failedAt)
    member("error", consumer.error)
    member("role", consumer.role)
    member("made_at", consumer.madeAt)
    member("moved_at", consumer.cursor.movedAt)
    member("seen_at", consumer.cursor.seenAt)
    member("expired", consumer.cursor.isExpired)
  }
}

extension DatabaseSession {
  /// Writes the session. Members that the role may not see are null.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("pid", processID)
      json.member("role", role)
      json.member("application", application)
      json.member("client", client)
      json.member("state", state)
      json.member("state_seconds", seconds)
    }
  }
}
