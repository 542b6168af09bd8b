import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

/// Each transaction names the one before it, and no reader passes a place where transactions are missing.
@Suite final class HistoryChainTests: DatabaseSuite {
  private static let levels = ["read committed", "repeatable read", "serializable"]
  private static let rounds = Tools.isSoak ? 100 : 20

  /// What a way says of the history after a token.
  private func answer(_ way: HistoryWay, after token: ChangeToken) throws -> StoreError? {
    try way.refusal(after: token, over: connection)
  }

  private func gaps() throws -> [HistoryVerification.Gap] {
    var gaps: [HistoryVerification.Gap] = []
    var walk = try HistoryVerification(over: connection)
    while try !walk.readBatch({ gaps.append($0) }) {}
    return gaps
  }

  /// A large transaction and many small ones, with numbers that nobody uses in between.
  private func writeHistory() throws -> [ChangeToken] {
    try connection.run(
      "insert into quake.quake (code, time) select 'l' || i, now() from generate_series(1, 620) i")
    for number in 0..<60 {
      if number % 7 == 0 { _ = try connection.ask("select nextval('quake.token')") }
      try connection.run("insert into quake.quake (code, time) values ('s\(number)', now())")
    }
    return try database.tokens().compactMap { ChangeToken($0) }
  }

  private func keepCopies() throws {
    try connection.run(
      "create table public.transactions as select * from quake.change_transaction",
      "create table public.versions as select * from quake.quake_version")
  }

  private func restoreCopies() throws {
    try connection.run(
      "insert into quake.change_transaction select * from public.transactions on conflict do nothing",
      """
      insert into quake.quake_version overriding system value select * from public.versions
      on conflict do nothing
      """)
  }

  @Test(arguments: levels)
  func eachTransactionNamesTheOneBeforeIt(level: String) throws {
    let other = try database.connect()
    let writer = try database.connect()
    try writer.run("set default_transaction_isolation = '\(level)'")
    try writer.insertQuakes("first")
    for round in 0..<12 {
      try writer.run("begin", "select count(*) from quake.quake")
      // The transaction's snapshot is older than these.
      for number in 0..<round % 3 { try other.insertQuakes("o\(round)n\(number)") }
      // Lost in a crash, or by a transaction that failed at its commit.
      for _ in 0..<(round % 4) * 11 { _ = try other.ask("select nextval('quake.token')") }
      try writer.run("savepoint s")
      try writer.insertQuakes("lost")
      try writer.run("rollback to s")
      try writer.insertQuakes("w\(round)")
      try writer.run("commit")
    }
    #expect(try connection.historyFaults() == [])
    #expect(try gaps() == [])
    // Only a transaction that could not see the nonce names a number alone.
    let numbers = try connection.ask(
      "select count(*) from quake.change_transaction where predecessor !~ '[.]' and predecessor <> '0'"
    )
    #expect((numbers == "0") == (level == "read committed"))
    for way in HistoryWay.allCases { #expect(try answer(way, after: .beginning) == nil, "\(way)") }
  }

  /// What passes the filter says nothing about what is missing; the versions that a page examines do.
  @Test func aFilterHidesNoMissingChange() throws {
    _ = try writeHistory()
    try keepCopies()
    var filters = Array(repeating: EventFilter(), count: 4)
    filters[0].minimumMagnitude = 9
    filters[1].operations = [.insert]
    filters[2].authors = ["somebody"]
    filters[3].changedColumns = ["felt"]
    func read(_ filter: EventFilter, _ order: HistoryQuery.Order) throws -> Bool {
      var query = HistoryQuery()
      (query.filter, query.order) = (filter, order)
      var reader = try HistoryQueryReader(
        query, over: connection, limits: HistoryPage.Limits(rows: 90, scanned: 250))
      do {
        while try !reader.readPage({ _ in }) {}
        return true
      } catch let error as StoreError where error.kind == .token(.diverged) {
        return false
      }
    }
    for code in ["l1", "l250", "l251", "l500", "l620", "s7", "s59"] {
      try connection.execute("delete from quake.quake_version where code = \(code)")
      for order in [HistoryQuery.Order.ascending, .descending] {
        for filter in filters {
          // These two select transactions, of which there are none.
          let readsNone = filter.authors != nil || filter.changedColumns != nil
          #expect(try read(filter, order) == readsNone, "\(code) \(filter)")
        }
      }
      try restoreCopies()
      for order in [HistoryQuery.Order.ascending, .descending] {
        for filter in filters { #expect(try read(filter, order), "\(filter)") }
      }
    }
  }

  @Test(arguments: [HistoryQuery.Order.ascending, .descending])
  func pagesThatBeginAfterAChangeHideNoMissingChange(_ order: HistoryQuery.Order) throws {
    _ = try writeHistory()
    try keepCopies()
    /// How many changes all pages have together; nil if one of them is refused.
    func count() throws -> Int? {
      var query = HistoryQuery()
      (query.order, query.limit) = (order, 170)
      var (count, last) = (0, nil as ChangePosition?)
      repeat {
        query.afterChange = last
        last = nil
        do {
          var reader = try HistoryQueryReader(query, over: connection)
          while try !reader.readPage({
            count += 1
            last = ChangePosition(of: $0)
          }) {}
        } catch let error as StoreError where error.kind == .token(.diverged) {
          return nil
        }
      } while last != nil
      return count
    }
    for code in ["l1", "l2", "l170", "l171", "l300", "l619", "l620", "s0", "s59"] {
      try connection.execute("delete from quake.quake_version where code = \(code)")
      #expect(try count() == nil, "\(code)")
      try restoreCopies()
      #expect(try count() == 680)
    }
    // The page begins after a change that has been lost meanwhile.
    let large = try HistoryBound.number(1).resolve(over: connection)
    try connection.execute("delete from quake.quake_version where code in ('l1', 'l619', 'l620')")
    for position in ["0", "618", "619"] {
      var query = HistoryQuery()
      (query.order, query.limit) = (order, 1000)
      query.afterChange = ChangePosition("\(large):\(position)")
      let error = #expect(throws: StoreError.self) {
        var reader = try HistoryQueryReader(query, over: connection)
        while try !reader.readPage({ _ in }) {}
      }
      #expect(error?.kind == .token(.diverged), "\(position)")
    }
  }

  /// A reader keeps its place, and the history becomes another one.
  private func expectDiverged(at place: ChangeToken, _ change: () throws -> Void) throws {
    var reader = try HistoryReader(connection: connection, after: place)
    try connection.run("begin")
    try change()
    #expect(try connection.ask("select quake.history_is_whole(0)") == "t")
    let error = #expect(throws: StoreError.self) { while try !reader.readPage({ _ in }) {} }
    #expect(error?.kind == .token(.diverged))
    #expect(error?.message == "history diverged at token \(place)")
    try connection.run("rollback")
  }

  @Test func anotherHistoryUnderACursorIsReported() throws {
    let tokens = try writeHistory()
    for round in 0..<Self.rounds {
      try expectDiverged(at: tokens[1 + round % (tokens.count - 2)]) {
        try connection.run(
          """
          update quake.change_transaction
             set nonce = translate(nonce, '0123456789abcdef', '123456789abcdef0')
          """,
          """
          update quake.change_transaction t
             set predecessor = coalesce((select p.token || '.' || p.nonce from quake.change_transaction p
                                          where p.token < t.token order by p.token desc limit 1), '0')
          """)
      }
    }
  }

  /// The history goes back to an earlier time, and other transactions get the numbers.
  @Test func aRestoreUnderACursorIsReported() throws {
    let tokens = try writeHistory()
    let last = try #require(tokens.last)
    for round in 0..<Self.rounds {
      try expectDiverged(at: last) {
        let earlier = tokens[tokens.count - 2 - round % 20]
        try connection.execute(
          "delete from quake.change_transaction where token > \(earlier.number)")
        _ = try connection.ask("select setval('quake.token', \(earlier.number))")
        try connection.run("set constraints all immediate")
        while try connection.latestToken().number <= last.number {
          try connection.run(
            "update quake.quake set felt = coalesce(felt, 0) + 1 where code = 's1'")
        }
      }
      _ = try connection.ask("select setval('quake.token', \(last.number))")
    }
  }

  @Test func aPurgeLeavesAWholeHistory() throws {
    let tokens = try writeHistory()
    try connection.run("delete from quake.quake where code like 's1%'")
    let retention = Retention(connection: connection, holdLimit: .zero)
    for place in [0, 1, 9, 30, tokens.count - 1] {
      _ = try retention.purge(before: .token(tokens[place]))
      for way in HistoryWay.allCases {
        #expect(try answer(way, after: tokens[place]) == nil, "\(way)")
      }
      #expect(try gaps() == [])
      for way in HistoryWay.allCases where place > 0 {
        #expect(try answer(way, after: tokens[place - 1])?.kind == .token(.expired), "\(way)")
      }
      try connection.insertQuakes("p\(place)")
      #expect(try gaps() == [])
    }
  }

  @Test func transactionsFromBeforeTheColumnAreNotChecked() throws {
    let tokens = try writeHistory()
    try connection.execute(
      "update quake.change_transaction set predecessor = null where token <= \(tokens[30].number)")
    try connection.execute(
      "delete from quake.change_transaction where token = \(tokens[10].number)")
    for way in HistoryWay.allCases { #expect(try answer(way, after: .beginning) == nil, "\(way)") }
    var walk = try HistoryVerification(over: connection)
    while try !walk.readBatch({ Issue.record("\($0)") }) {}
    #expect(walk.unlinked == 30)
    #expect(walk.transactions == Int64(tokens.count - 1))
    #expect(walk.end == tokens.last)
  }
}
