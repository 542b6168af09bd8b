internal import Basics
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
      json.key("time")
      json.timestamp(report.store?.time ?? .now())
      json.key("ok")
      json.bool(problems.isEmpty && report.store != nil)
      json.key("problems")
      json.array { json in for problem in problems { json.string(problem.message) } }
      json.key("database")
      json.object(database)
      json.key("schema")
      json.object(schema)
      if let store = report.store { write(store, to: &json) }
    }
    json.newline()
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private func database(_ json: inout JSONWriter) {
    json.key("address")
    json.string(report.address)
    json.key("embedded")
    json.string(report.embedded)
    json.key("server_version")
    json.string(report.serverVersion)
    json.key("standby")
    json.bool(report.isStandby)
  }

  private func schema(_ json: inout JSONWriter) {
    json.key("version")
    json.integer(report.schemaVersion.map { Int64($0) })
    json.key("pending")
    json.array { json in for name in report.pending { json.string(name) } }
    json.key("error")
    json.string(report.schemaFault?.message)
  }

  private func write(_ store: StoreStatus, to json: inout JSONWriter) {
    json.key("feeds")
    json.array { json in for feed in store.feeds { write(feed, store, to: &json) } }
    json.key("import")
    if let last = store.lastImport { Self.write(last, to: &json) } else { json.null() }
    json.key("quarantined")
    json.integer(Int(store.quarantined))
    json.key("simulated_events")
    json.integer(store.simulatedEvents)
    json.key("token")
    json.string(store.newest?.token.description)
    json.key("token_at")
    json.timestamp(store.newest?.at)
    json.key("token_age_seconds")
    json.double(store.newest.map { store.age(of: $0.at).inSeconds })
    json.key("watchers")
    json.array { json in for watcher in store.watchers { Self.write(watcher, to: &json) } }
    json.key("notification_queue_usage")
    json.double(store.notificationQueueUsage)
    json.key("notification_queue")
    json.object { json in
      json.key("usage")
      json.double(store.notificationQueueUsage)
      json.key("holders")
      json.array { json in
        for session in store.notificationQueueSuspects { session.write(to: &json) }
      }
    }
    json.key("lock_waits")
    json.array { json in for wait in store.lockWaits { wait.write(to: &json) } }
    json.key("bytes")
    json.integer(Int(store.databaseBytes))
    json.key("tables")
    json.object { json in
      for table in store.tables {
        json.key(dynamic: table.name)
        json.integer(Int(table.bytes))
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
      json.key("id")
      json.integer(Int(last.id))
      json.key("feed")
      json.string(last.feed)
      json.key("finished_at")
      json.timestamp(last.finishedAt)
      json.key("seen")
      json.integer(Int(last.seen))
      json.key("inserted")
      json.integer(Int(last.inserted))
      json.key("updated")
      json.integer(Int(last.updated))
      json.key("unchanged")
      json.integer(Int(last.unchanged))
      json.key("rejected")
      json.integer(Int(last.rejected))
    }
  }

  private static func write(_ watcher: DurableCursor.Status, to json: inout JSONWriter) {
    json.object { json in
      json.key("name")
      json.string(watcher.name)
      json.key("token")
      json.string("\(watcher.cursor.token)")
      json.key("tokens_behind")
      json.integer(Int(watcher.transactionsBehind))
      json.key("seconds_behind")
      json.double(watcher.secondsBehind)
      json.key("seen_at")
      json.timestamp(watcher.seenAt)
      json.key("expired")
      json.bool(watcher.isExpired)
    }
  }
}

extension JSONWriter {
  /// Writes the members of a feed.
  ///
  /// - Parameter lag: The time since the last successful poll; nil if there was none.
  package mutating func members(of feed: StoreStatus.Feed, lag: Duration?) {
    key("name")
    string(feed.name)
    key("generated")
    timestamp(feed.generated)
    key("polled_at")
    timestamp(feed.polledAt)
    key("succeeded_at")
    timestamp(feed.succeededAt)
    key("lag_seconds")
    double(lag?.inSeconds)
    key("interval_seconds")
    double(feed.interval)
    key("next_due")
    timestamp(feed.nextDue)
    key("failures")
    integer(feed.failures)
    key("error")
    string(feed.error)
    key("import")
    integer(feed.lastImport)
    key("held")
    bool(feed.isHeld)
    key("holder_pid")
    integer(feed.holderPID)
    key("holder_application")
    string(feed.holderApplication)
    key("holder_address")
    string(feed.holderAddress)
    key("paused_at")
    timestamp(feed.pause?.since)
    key("paused_by")
    string(feed.pause?.role)
    key("ended_at")
    timestamp(feed.endedAt)
  }
}

extension LockWait {
  /// Writes the session as a member of the status. Members that the role may not see are null.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.key("waiter")
      waiter.write(to: &json)
      json.key("seconds")
      json.double(seconds)
      json.key("object")
      json.string(object)
      json.key("type")
      json.string(type)
      json.key("mode")
      json.string(mode)
      json.key("relation")
      json.string(relation)
      json.key("holders")
      json.array { json in for holder in holders { holder.write(to: &json) } }
      json.key("holder_count")
      json.integer(holderCount)
    }
  }
}

extension LockWait.Session {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.key("pid")
      json.integer(processID)
      json.key("role")
      json.string(role)
      json.key("application")
      json.string(application)
      json.key("client")
      json.string(client)
      json.key("state")
      json.string(state)
      json.key("state_seconds")
      json.double(stateSeconds)
      json.key("prepared_transaction")
      json.string(preparedTransaction)
    }
  }
}
