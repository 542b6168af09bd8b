import Postgres
import QuakeModel
import QuakeStore
import TestSupport
import Testing

@Suite struct CancellationTests {
  private let database: LiveDatabase

  init() throws {
    database = try LiveDatabase()
  }

  /// On an idle machine a cancellation takes a millisecond. `make soak` allows less than the safety poll's 5 s, after
  /// which a stream reads the history anyway.
  private static let soon = Tools.isSoak ? Duration.seconds(4) : ToolProcess.patience

  /// Cancels a task that reads the first change when `isReached`; how long it took to end, and with what.
  private static func cancel(
    _ stream: EventChanges, when isReached: () throws -> Bool
  ) async throws -> Duration {
    let task = Task(executorPreference: OwnThread.shared) {
      try await stream.first(1) { $0.label }
    }
    #expect(try isReached())
    let begun = ContinuousClock.now
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    return begun.duration(to: .now)
  }

  @Test func aCancelledStreamEndsWhileItWaitsForAChange() async throws {
    try await database.run { connection in
      let duration = try await Self.cancel(database.live.changes()) {
        try connection.eventually(LiveDatabase.idle(after: "select t.token, v.id"))
      }
      #expect(duration < Self.soon)
      #expect(try connection.eventually(LiveDatabase.connections(0), within: Self.soon))
    }
  }

  @Test func aCancelledStreamEndsWhileAStatementRuns() async throws {
    try await database.run { connection in
      let observer = try database.test.connect()
      try connection.run("begin", "lock table quake.change_transaction in access exclusive mode")
      let duration = try await Self.cancel(database.live.changes(after: .beginning)) {
        try observer.waitUntilBlocked(applicationName: LiveDatabase.applicationName)
      }
      #expect(duration < Self.soon)
      // The lock is still held: a statement that was not cancelled would wait on.
      #expect(try observer.eventually(LiveDatabase.connections(0), within: Self.soon))
      try connection.run("rollback")
    }
  }

  @Test func aCancelledStreamEndsWhileItConnects() async throws {
    try await OwnThread.run {
      let silent = try SilentServer()
      let live = QuakeDatabase("host=127.0.0.1 port=\(silent.port)", applicationName: "live")
      let duration = try await Self.cancel(live.changes()) { silent.waitForClient() }
      #expect(duration < Self.soon)
    }
  }

  @Test func aCancelledStreamEndsWhileItWaitsToReconnect() async throws {
    let database = database
    try await OwnThread.run {
      let other = try TestDatabase()
      let admin = try other.connect()
      let duration = try await Self.cancel(database.live.changes()) {
        let name = database.test.name
        guard
          try database.test.connect().eventually(
            LiveDatabase.idle(after: "select t.token, v.id"))
        else { return false }
        try database.test.allowConnections(false)
        // Refused again and again: it is between two attempts most of the time.
        return try admin.eventually(
          """
          not exists (select from pg_stat_activity
                       where datname = '\(name)' and application_name = 'live')
          """)
      }
      #expect(duration < Self.soon)
    }
  }

  @Test func aCancelledStreamDeliversNothingMoreOfWhatItHasRead() async throws {
    let connection = try database.test.connect()
    try connection.insertQuakes("a", 100)
    let stream = database.live.changes(after: .beginning)
    let taken = Task {
      var count = 0
      do {
        for try await _ in stream {
          count += 1
          if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      } catch is CancellationError {}
      return count
    }
    #expect(try await taken.value == 3)
  }

  @Test func aCancelledOrDroppedStreamClosesItsConnection() async throws {
    try await database.run { connection in
      try connection.insertQuakes("a", 2)
      do {
        var iterator = database.live.changes(after: .beginning).makeAsyncIterator()
        #expect(try await iterator.next()?.code == "a1")
        #expect(try connection.ask("select (\(LiveDatabase.connections(1)))::text") == "true")
        #expect(try await iterator.next()?.code == "a2")
      }
      #expect(try connection.eventually(LiveDatabase.connections(0), within: Self.soon))
    }
  }

  @Test func aCancelledSnapshotEndsAtOnce() async throws {
    try await database.run { connection in
      let observer = try database.test.connect()
      try connection.run("begin", "lock table quake.quake in access exclusive mode")
      let task = Task(executorPreference: OwnThread.shared) {
        try await database.live.events()
      }
      #expect(try observer.waitUntilBlocked(applicationName: LiveDatabase.applicationName))
      let begun = ContinuousClock.now
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(begun.duration(to: .now) < Self.soon)
      #expect(try observer.eventually(LiveDatabase.connections(0), within: Self.soon))
    }
  }
}
