import Postgres
import QuakeModel
import Synchronization
import TestSupport
import Testing

@testable import QuakeHistory

@Suite struct HistoryStressTests {
  private static let writers = 8
  private static let transactionsEach = 50
  /// How many of its transactions a writer commits at least.
  private static let commitsEach = transactionsEach / 4 + 1
  private static let codes = 40

  /// One writer's transactions: one to five statements of any kind, savepoints, some rolled back. The
  /// events of a transaction come in the order of their codes, so that few end in a deadlock.
  private static func write(_ connection: Connection, seed: UInt64, committed: Tally) throws {
    var generator = SeededGenerator(seed)
    let levels = ["read committed", "repeatable read", "serializable"]
    let deadline = ContinuousClock.now + ToolProcess.patience
    var (tries, commits) = (0, 0)
    while tries < transactionsEach || commits < commitsEach && ContinuousClock.now < deadline {
      tries += 1
      let level = levels[Int.random(in: 0..<3, using: &generator)]
      do {
        try connection.run("begin isolation level \(level)")
        let picks = (0..<Int.random(in: 1...5, using: &generator))
          .map { _ in Int.random(in: 0..<codes, using: &generator) }.sorted()
        for pick in picks {
          let usesSavepoint = Int.random(in: 0..<4, using: &generator) == 0
          if usesSavepoint { try connection.run("savepoint s") }
          try connection.run(statement(pick, &generator))
          if usesSavepoint {
            try connection.run(
              Bool.random(using: &generator) ? "rollback to savepoint s" : "release savepoint s")
          }
        }
        let isCommitted = Int.random(in: 0..<5, using: &generator) > 0
        try connection.run(isCommitted ? "commit" : "rollback")
        if isCommitted {
          committed.add(1)
          commits += 1
        }
      } catch let error as PostgresError
        where ["40001", "40P01", "23505"].contains(error.sqlState)
      {
        // What concurrency brings with it: an ordinary rollback.
        try connection.run("rollback")
      }
    }
  }

  private static func statement(_ pick: Int, _ generator: inout SeededGenerator) -> String {
    let code = "'e" + String("0\(pick)".suffix(2)) + "'"
    let felt = Int.random(in: 0..<1_000_000, using: &generator)
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<7: return "update quake.quake set felt = \(felt) where code = \(code)"
    case 7..<10: return "delete from quake.quake where code = \(code)"
    case 10..<19:
      return """
        insert into quake.quake as q (code, time, felt) values (\(code), '2024-01-01Z', \(felt))
        on conflict (code) do update set felt = excluded.felt
        """
    default: return "update quake.quake set sig = \(felt) where code between \(code) and 'e99'"
    }
  }

  @Test func manyWritersLoseRepeatAndReorderNoChange() throws {
    let database = try TestDatabase()
    let committed = Tally()
    let (replay, late) = try run(database, committed: committed)
    let connection = try database.connect()
    #expect(committed.total > Self.writers * Self.transactionsEach / 4)
    #expect(replay.faults == [])
    #expect(
      replay.places
        == (try connection.table(
          "select token || ':' || position from quake.changes_since('0')")))
    let table = try Self.events(connection)
    #expect(replay.events == table)
    // Those who began with a snapshot in the midst of it end with the same.
    #expect(late.faults == [])
    #expect(late.events == table)
    #expect(try connection.historyFaults() == [])
  }

  private static func events(_ connection: Connection) throws -> [String: String] {
    var events: [String: String] = [:]
    try Snapshot.read(over: connection, begin: { _ in }) { record in
      if let code = record.text(.code) { events[code] = Replay.json(record) }
    }
    return events
  }

  /// Runs the writers, and beside them one who reads from the beginning and one who begins with
  /// snapshots.
  private func run(_ database: TestDatabase, committed: Tally) throws -> (Replay, Replay) {
    let over = Tally()
    let reading = BoxedReplay()
    let reader = BackgroundThread {
      let connection = try database.connect()
      var reader = try HistoryReader(connection: connection, after: .beginning)
      var replay = Replay()
      while true {
        // Asked before the page is read: what is committed by then is in it.
        let wasOver = over.total > 0
        if try reader.readPage({ replay.take($0) }), wasOver { break }
      }
      reading.replay.withLock { $0 = replay }
    }
    let following = BoxedReplay()
    let follower = BackgroundThread {
      let connection = try database.connect()
      var replay = Replay()
      // Begins again and again with a snapshot, and follows the last one to the end.
      while true {
        let wasOver = over.total > 0
        var events: [String: String] = [:]
        var token = ChangeToken.beginning
        try Snapshot.read(over: connection, begin: { token = $0 }) { record in
          if let code = record.text(.code) { events[code] = Replay.json(record) }
        }
        replay = Replay(events: events, after: token)
        var reader = try HistoryReader(connection: connection, after: token)
        for _ in 0..<5 { _ = try reader.readPage { replay.take($0) } }
        guard replay.faults.isEmpty, !wasOver else { break }
      }
      following.replay.withLock { $0 = replay }
    }
    defer { over.add(1) }
    try BackgroundThread.run(Self.writers) { number in
      try Self.write(
        try database.connect(applicationName: "writer \(number)"), seed: UInt64(number),
        committed: committed)
    }
    over.add(1)
    try reader.join()
    try follower.join()
    return (reading.replay.withLock { $0 }, following.replay.withLock { $0 })
  }
}

/// What a thread leaves for the test.
private final class BoxedReplay: Sendable {
  let replay = Mutex(Replay())
}
