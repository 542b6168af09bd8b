import Foundation
import TestSupport
import Testing

/// Workers on one database, each with an application name of its own.
final class WorkerScene {
  let database: TestDatabase
  private let arguments: [String]
  private(set) var workers: [String: ToolProcess] = [:]
  private var count = 0

  /// - Parameter arguments: The arguments of each worker, after `run`.
  init(_ database: TestDatabase, _ arguments: [String]) {
    self.database = database
    self.arguments = arguments
  }

  /// Starts another worker; returns its name.
  @discardableResult
  func start() throws -> String {
    count += 1
    let name = "worker\(count)"
    workers[name] = try Tools.start(
      "quake-ingest",
      ["run", "--database", "\(database.conninfo) application_name=\(name)"] + arguments)
    return name
  }

  func worker(_ name: String) throws -> ToolProcess { try #require(workers[name]) }

  /// Kills a worker.
  func kill(_ name: String) throws {
    let worker = try worker(name)
    worker.signal(SIGKILL)
    #expect(try worker.exit().ending == .killed(by: SIGKILL))
    workers[name] = nil
  }

  /// Stops a worker, but not within a COPY, during which another one gives it twenty times as long.
  func pause(_ name: String) throws {
    let worker = try worker(name)
    try eventually("\(name) is stopped outside of a COPY") {
      try worker.stop()
      var states = ""
      try eventually("the sessions of \(name) wait for it") {
        states =
          try database.column(
            """
            select string_agg(state, ' ') from pg_stat_activity
             where application_name = '\(name)' and datname = current_database()
            having bool_and(state like 'idle%' or wait_event = 'ClientRead')
            """
          ).first ?? ""
        return !states.isEmpty
      }
      guard states.contains("active") else { return true }
      worker.signal(SIGCONT)
      return false
    }
  }

  /// Stops all workers, which must end with status 0.
  func stop() throws {
    // A worker that has just been started does not handle the signal yet.
    for (name, worker) in workers {
      try eventually("\(name) polls its feeds, or stands by for them") {
        worker.takeIn()
        return ["polling ", "standing by for "].contains { worker.errorText.contains($0) }
      }
    }
    for worker in workers.values { worker.signal(SIGTERM) }
    for (name, worker) in workers {
      let outcome = try worker.exit()
      #expect(outcome.ending == .exited(0), "\(name): \(outcome.errors)")
    }
    workers = [:]
  }

  /// The worker that polls each feed, for the feeds that are polled.
  func holders() throws -> [String: String] {
    // A worker that is ending may have no application name any more.
    let rows = try database.column(
      """
      select name || ' ' || holder_application from quake.feed_status
       where held and holder_application <> ''
      """)
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        let words = row.split(separator: " ")
        return (String(words[0]), String(words[1]))
      })
  }

  /// Waits until each of `feeds` is polled, and none by `gone`; returns the worker of each.
  func waitForHolders(
    of feeds: [String], otherThan gone: String? = nil,
    within patience: Duration = ToolProcess.patience
  ) throws -> [String: String] {
    var found: [String: String] = [:]
    try eventually("all feeds are polled, none by \(gone ?? "nothing")", within: patience) {
      found = try holders()
      return feeds.allSatisfy { found[$0] != nil && found[$0] != gone }
    }
    return found
  }

  /// Feeds of which a snapshot was imported more than once: there must be none.
  func repeatedImports() throws -> [String] {
    try database.column(
      """
      select feed || ' ' || generated from quake.import
       group by feed, generated having count(*) > 1 or generated is null
      """)
  }

  /// How often each feed was imported.
  func importCounts() throws -> [String: Int] {
    let rows = try database.column(
      "select feed || ' ' || count(*) from quake.import group by feed")
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        let words = row.split(separator: " ")
        return (String(words[0]), Int(words[1]) ?? 0)
      })
  }
}
