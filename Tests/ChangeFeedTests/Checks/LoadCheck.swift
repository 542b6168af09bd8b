import TestSupport

/// A load without faults of the surroundings: writers, some watchers, the oracle.
enum LoadCheck {
  static func run(changes: Int, in database: TestDatabase) throws -> Violations {
    let feeds = try [nil, nil, FeedFilters.operations].map { filter in
      try WatchedFeed(
        filter?.name ?? "all", database.conninfo, ["--heartbeat", "200ms"], filter: filter)
    }
    var settings = Load.Settings(changes: changes)
    settings.largestBatch = 3
    let load = Load(settings, database.conninfo)
    try load.join()
    let connection = try database.connect()
    try connection.run("insert into quake.quake (code, time) values ('the end', now())")
    let history = try KnownHistory(over: connection, filters: FeedFilters.all)
    let last = history.changes.last?.token ?? 0
    for feed in feeds {
      try feed.process.waitForToken(last)
      try feed.process.stop()
    }
    let oracle = ChangeOracle(history)
    var violations = try HistoryCheck.run(over: connection, log: load.log)
    for feed in feeds { violations.add(feed.judge(oracle)) }
    return violations
  }
}
