import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

@Suite final class RetentionTests: DatabaseSuite {
  /// Everything that must not change for tokens from `token` on.
  private func truth(at token: ChangeToken) throws -> [String] {
    let parameter = [Parameter.text("\(token)")]
    let state = try connection.table("select * from quake.as_of($1) order by code", parameter)
    let changes = try connection.table("select * from quake.changes_since($1)", parameter)
    return state + changes
  }

  private func tokens(of other: TestDatabase? = nil) throws -> [ChangeToken] {
    try (other ?? database).tokens().compactMap { ChangeToken($0) }
  }

  /// Versions below the floor that nothing needs any more.
  private func superfluous() throws -> [String] {
    try connection.table(
      """
      with below as (
        select v.*, t.token from quake.quake_version v
          join quake.change_transaction t using (transaction_id)
         where t.token <= (select token from quake.history_floor)
      )
      select 'version ' || b.id from below b
       where b.op in ('delete', 'truncate')
          or exists (select from below c where c.code = b.code and c.id > b.id)
          or exists (select from below c where c.op = 'truncate' and c.id > b.id)
      union all
      select 'transaction ' || t.token from quake.change_transaction t
       where t.token < (select token from quake.history_floor)
         and not exists (select from quake.quake_version v
                          where v.transaction_id = t.transaction_id)
      """)
  }

  /// Random transactions: several changes of a few events, now and then a delete, an event that comes
  /// back, a truncate, many changes of one event.
  private func write(_ count: Int, using generator: inout SeededGenerator) throws {
    for _ in 0..<count {
      try connection.transaction {
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
          let code = "'e\(Int.random(in: 0..<12, using: &generator))'"
          switch Int.random(in: 0..<100, using: &generator) {
          case 0..<15: try connection.run("delete from quake.quake where code = \(code)")
          case 15..<18: try connection.run("truncate quake.quake")
          default:
            try connection.run(
              """
              insert into quake.quake as q (code, time, felt) values (\(code), '2024-01-01Z', 0)
              on conflict (code) do update set felt = q.felt + 1
              """)
          }
        }
      }
    }
  }

  @Test(arguments: Seeds.first(1, of: 1...6))
  func aPurgeKeepsEveryStateAndChangeFromTheFloorOn(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    let retention = Retention(connection: connection)
    for _ in 0..<4 {
      try write(40, using: &generator)
      let all = try tokens()
      let old = try retention.plan(before: .age(.seconds(86_400))).oldest
      let floor = try #require(
        all.filter { $0.number >= old.number }.randomElement(using: &generator))
      let kept = all.filter { $0.number >= floor.number }
      let before = try kept.map(truth)
      let plan = try retention.plan(before: .token(floor))
      #expect(plan.floor == floor && plan.oldest == old && plan.pinning.isEmpty)
      // Small batches, so that they end everywhere.
      _ = try connection.ask("select quake.raise_history_floor($1, '0')", [.text("\(floor)")])
      var versions: Int64 = 0
      var transactions: Int64 = 0
      var isFinished = false
      while !isFinished {
        let size = Int.random(in: 1...7, using: &generator)
        let batch = try connection.execute(
          "select versions, transactions, finished from quake.purge_history($1)",
          [.integer(Int64(size))])
        versions += batch.integer(0, 0) ?? 0
        transactions += batch.integer(0, 1) ?? 0
        isFinished = batch.bool(0, 2) ?? true
        // Not even in the middle of it.
        #expect(try truth(at: kept[0]) == before[0])
      }
      #expect(try kept.map(truth) == before)
      #expect(try superfluous() == [])
      #expect(versions == plan.versions)
      #expect(transactions == plan.transactions)
      #expect(try retention.plan(before: .token(floor)).versions == 0)
      for token in all where token.number < floor.number {
        let error = try #require(throws: PostgresError.self) {
          try connection.execute("select quake.token_number($1)", [.text("\(token)")])
        }
        #expect(error.sqlState == "QK002")
        #expect(error.detail?.contains("\(floor)") == true)
      }
    }
  }

  @Test func expiredForeignAndFutureTokensAreToldApart() throws {
    try connection.insertQuakes("a", "b", "c", "d")
    let all = try tokens()
    _ = try Retention(connection: connection).purge(before: .token(all[2]))
    func state(_ token: String) throws -> String? {
      thrown { () throws(PostgresError) in
        try connection.execute("select quake.token_number($1)", [.text(token)])
      }?.sqlState
    }
    func wrong(_ token: ChangeToken) -> String {
      let nonce = "\(token)".hasSuffix("00000000") ? "00000001" : "00000000"
      return "\(token.number).\(nonce)"
    }
    #expect(try state("0") == "QK002")
    #expect(try state("\(all[0])") == "QK002")
    #expect(try state("\(all[2])") == nil && state("\(all[3])") == nil)
    // Its versions are the newest of their events, so it is still there and has another nonce.
    #expect(try state(wrong(all[0])) == "QK003")
    #expect(try state(wrong(all[2])) == "QK003" && state(wrong(all[3])) == "QK003")
    #expect(try state("9.00000000") == "QK004")
    #expect(try connection.ask("select quake.oldest_token()") == "\(all[2])")
    // After this nothing of the first is left, and the server cannot tell.
    try connection.run("delete from quake.quake where code = 'a'")
    _ = try Retention(connection: connection).purge(before: .token(connection.latestToken()))
    #expect(try state(wrong(all[0])) == "QK002")
  }

  @Test func aPurgeOfNothingRemovesNothing() throws {
    let retention = Retention(connection: connection)
    for bound in [Retention.Bound.token(.beginning), .age(.zero), .time(.earliest)] {
      let outcome = try retention.purge(before: bound)
      #expect(outcome.floor == .beginning && outcome.versions == 0 && outcome.isFinished)
    }
    try connection.insertQuakes("a", "b")
    let all = try tokens()
    #expect(try retention.purge(before: .token(all[1])).floor == all[1])
    #expect(try retention.purge(before: .token(all[0])).floor == all[1])
    #expect(try retention.plan(before: .token(all[0])).floor == all[1])
    #expect(try retention.purge(before: .age(.seconds(3600))).floor == all[1])
    for wrong in ["77.00000000", "2.00000000"] {
      let token = try #require(ChangeToken(wrong == "\(all[1])" ? "2.00000001" : wrong))
      #expect(throws: StoreError.self) { try retention.purge(before: .token(token)) }
      #expect(throws: StoreError.self) { try retention.plan(before: .token(token)) }
    }
  }

  @Test func aPurgeTakesAnAgeOrATime() throws {
    try connection.insertQuakes("a", "b", "c")
    let all = try tokens()
    try connection.run(
      "update quake.change_transaction set at = now() - interval '3 days' where token = 1",
      "update quake.change_transaction set at = now() - interval '2 days' where token = 2")
    let retention = Retention(connection: connection)
    #expect(try retention.plan(before: .age(.seconds(4 * 86_400))).floor == .beginning)
    #expect(try retention.plan(before: .age(.seconds(60 * 60 * 60))).floor == all[0])
    #expect(try retention.plan(before: .age(.seconds(3600))).floor == all[1])
    #expect(try retention.plan(before: .age(.zero)).floor == all[2])
    #expect(try retention.plan(before: .time(.now())).floor == all[2])
    #expect(try retention.purge(before: .age(.seconds(3600))).floor == all[1])
  }

  @Test(arguments: ServerVersion.usual)
  func durableCursorsHoldBackAPurgeUpToTheLimit(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    defer { withExtendedLifetime(database) {} }
    try connection.insertQuakes("a", "b", "c", "d", "e")
    let all = try tokens(of: database)
    let slow = DurableCursor(name: "slow")
    #expect(try slow.take(over: connection) == nil)
    try slow.begin(at: HistoryCursor(token: all[1]), over: connection)
    let quick = DurableCursor(name: "quick")
    try quick.begin(at: HistoryCursor(token: all[3]), over: connection)
    let retention = Retention(connection: connection)
    let plan = try retention.plan(before: .token(all[4]))
    #expect(plan.floor == all[1])
    #expect(plan.pinning.map(\.name) == ["quick", "slow"])
    #expect(plan.pinning.map(\.transactionsBehind) == [1, 3])
    #expect(try retention.purge(before: .token(all[4])).floor == all[1])
    // Within a transaction it needs that transaction whole.
    try slow.move(to: HistoryCursor(token: all[3], changes: 1), over: connection)
    #expect(try retention.purge(before: .token(all[4])).floor == all[2])
    // One that has waited for too long waits no more.
    try connection.run(
      "update quake.change_transaction set at = now() - interval '8 days' where token = 4")
    let left = try retention.plan(before: .token(all[4]))
    #expect(left.floor == all[3] && left.pinning.map(\.name) == ["quick"])
    let hard = Retention(connection: connection, holdLimit: .zero)
    #expect(try hard.purge(before: .token(all[4])).floor == all[4])
    let statuses = try DurableCursor.list(over: connection)
    #expect(statuses.map(\.isExpired) == [true, true])
    // One that is lost already holds nothing back.
    try connection.insertQuakes("f")
    #expect(try retention.purge(before: .age(.zero)).floor == connection.latestToken())
  }

  @Test func aPurgeBetweenPagesIsAnErrorUnlessTheFloorIsAtTheCursor() throws {
    let page = HistoryReader.pageSize
    // One more than may have been requested before the second purge: the page of two that a bulk page holds.
    for round in 0..<5 {
      try connection.run(
        """
        insert into quake.quake (code, time)
        select 'r\(round)-' || n, now() from generate_series(1, \(page)) n
        """)
    }
    let all = try tokens()
    let retention = Retention(connection: try database.connect())
    var reader = try HistoryReader(connection: connection, after: .beginning)
    #expect(try !reader.readPage { _ in })
    #expect(reader.cursor == HistoryCursor(token: all[0]))
    // Exactly at its token: it goes on.
    _ = try retention.purge(before: .token(all[0]))
    var count = 0
    #expect(try !reader.readPage { _ in count += 1 })
    #expect(count == page && reader.cursor == HistoryCursor(token: all[1]))
    // A prefetched page may still arrive; a page that is requested afterwards may not.
    _ = try retention.purge(before: .token(all[4]))
    let error = try #require(throws: StoreError.self) {
      while try !reader.readPage({ _ in }) {}
    }
    #expect(error.kind == .token(.expired))
    #expect(error.detail?.contains("\(all[4])") == true)
    #expect(throws: StoreError.self) {
      _ = try HistoryReader(connection: connection, continuing: reader)
    }
    // Nor may the rest of a transaction be had that has been purged.
    var within = try HistoryReader(
      connection: connection, after: HistoryCursor(token: all[4], changes: 7))
    let partial = try #require(throws: StoreError.self) { _ = try within.readPage { _ in } }
    #expect(partial.kind == .token(.expired))
  }

  @Test func aPurgeGoesOnBesideWritersAndReaders() throws {
    let over = Tally()
    let database = database
    let purger = BackgroundThread {
      let retention = Retention(connection: try database.connect())
      while over.total == 0 { _ = try retention.purge(before: .age(.milliseconds(250))) }
    }
    defer { try? purger.join() }
    defer { over.add(1) }
    var reader = try HistoryReader(connection: connection, after: .beginning)
    var replay = Replay()
    /// Reads to the end; from a snapshot on if what comes next has been purged.
    func catchUp() throws {
      var token: ChangeToken?
      // The reader of a busy machine may be slower than the purges, but not for long.
      for _ in 0..<100 {
        do {
          if let token { reader = try HistoryReader(connection: connection, after: token) }
          while try !reader.readPage({ replay.take($0) }) {}
          return
        } catch let error as StoreError where error.kind == .token(.expired) {
          var events: [String: String] = [:]
          var end = ChangeToken.beginning
          try Snapshot.read(over: connection, begin: { end = $0 }) { record in
            if let code = record.text(.code) { events[code] = Replay.json(record) }
          }
          replay = Replay(events: events, after: end)
          token = end
        }
      }
      Issue.record("each of a hundred snapshots was older than the history")
    }
    let writer = try database.connect()
    var generator = SeededGenerator(7)
    func hasPurged() throws -> Bool {
      try connection.ask("select (token > 0)::text from quake.history_floor") == "true"
    }
    let deadline = ContinuousClock.now + ToolProcess.patience
    var number = 0
    // The writer continues until a purge has removed something.
    while try number < 1500 || !hasPurged() && ContinuousClock.now < deadline {
      defer { number += 1 }
      let code = "e\(Int.random(in: 0..<50, using: &generator))"
      try writer.execute(
        """
        insert into quake.quake as q (code, time, felt) values ($1, now(), 0)
        on conflict (code) do update set felt = q.felt + 1
        """, [.text(code)])
      if number % 100 == 0 { try writer.run("delete from quake.quake where felt > 10") }
      // Now and then it falls behind.
      guard number % 50 < 25 else { continue }
      try catchUp()
      #expect(replay.faults == [])
    }
    try catchUp()
    #expect(replay.faults == [])
    var table: [String: String] = [:]
    try Snapshot.read(over: connection, begin: { _ in }) { record in
      if let code = record.text(.code) { table[code] = Replay.json(record) }
    }
    #expect(replay.events == table)
    #expect(try hasPurged())
  }
}
