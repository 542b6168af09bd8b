internal import QuakeWorker

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
    store.lockWaits = lockWaits.map { wait in
      var wait = wait
      wait.waiter = wait.waiter.withoutIdentity
      wait.holders = wait.holders.map(\.withoutIdentity)
      return wait
    }
    store.notificationQueueSuspects = notificationQueueSuspects.map(\.withoutIdentity)
    return store
  }
}

extension LockWait.Session {
  fileprivate var withoutIdentity: LockWait.Session {
    var session = self
    session.processID = nil
    session.role = nil
    session.client = nil
    return session
  }
}
