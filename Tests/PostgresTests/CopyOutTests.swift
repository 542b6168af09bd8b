import Basics
import TestSupport
import Testing

@testable import Postgres

@Suite final class CopyOutTests: EmptyDatabaseSuite {
  private struct Stop: Error {}

  private func isUsable() throws -> Bool {
    try connection.ask("select 1") == "1" && connection.isIdle
  }

  /// The first column of all rows.
  private func integers(_ query: SQL, columns: Int = 1) throws -> [Int64?] {
    var values: [Int64?] = []
    try connection.copyOut(query, columns: columns) { rows in
      while try rows.nextRow() { values.append(rows.value(0).integer) }
    }
    return values
  }

  @Test func copyOutPassesOnEveryRowInOrderWithEveryType() throws {
    var next: Int64 = 1
    try connection.copyOut(
      """
      select i::bigint, \("it's \\ % _ é")::text, i::float8 / 8, i % 2 = 0, null::text, array['a', 'é'],
             '1970-01-01Z'::timestamptz + i * interval '1 microsecond', ''::text, i::int2
        from generate_series(1, \(20_000)) i
      """, columns: 9
    ) { rows in
      while try rows.nextRow() {
        #expect(rows.value(0).integer == next)
        #expect(rows.value(1).text == "it's \\ % _ é")
        #expect(rows.value(2).double == Double(next) / 8)
        #expect(rows.value(3).bool == (next % 2 == 0))
        #expect(rows.value(4).isNull)
        #expect(rows.value(5).textArray == ["a", "é"])
        #expect(rows.value(6).timestamp == next)
        #expect(rows.value(7).text == "" && !rows.value(7).isNull)
        #expect(rows.value(8).integer == next)
        // Columns that do not exist.
        #expect(rows.value(9).isNull && rows.value(-1).isNull)
        next += 1
      }
      #expect(rows.value(0).isNull)
      #expect(try !rows.nextRow())
    }
    #expect(next == 20_001)
    #expect(try isUsable())
  }

  @Test func copyOutEndsWithAnErrorAtARowAboveTheLimit() throws {
    let error = try #require(throws: PostgresError.self) {
      try connection.copyOut(
        "select 'short' union all select repeat('x', 50000000)", columns: 1, rowLimit: 1 << 20
      ) { rows in
        while try rows.nextRow() { #expect(rows.value(0).bytes?.count == 5) }
      }
    }
    #expect(error.kind == .tooLarge)
  }

  @Test func copyOutIsCancelledWhenItsBodyThrowsOrStopsEarly() throws {
    for stopsAfter in [0, 1, 3] {
      for throwing in [true, false] {
        var count = 0
        let result = Result {
          try connection.copyOut("select generate_series(1, 100000000)", columns: 1) { rows in
            while count < stopsAfter, try rows.nextRow() { count += 1 }
            if throwing { throw Stop() }
          }
        }
        if throwing {
          #expect(throws: Stop.self) { try result.get() }
        } else {
          #expect(throws: Never.self) { try result.get() }
        }
        #expect(count == stopsAfter)
        #expect(try isUsable())
      }
    }
  }

  @Test func copyOutPassesOnTheRowsBeforeAnError() throws {
    var rows = 0
    let error = try #require(throws: PostgresError.self) {
      try connection.copyOut(
        "select \(1) / (2000 - i) from generate_series(1, 3000) i", columns: 1
      ) { reader in
        while try reader.nextRow() { rows += 1 }
      }
    }
    #expect(error.sqlState == "22012")
    #expect(rows == 1999)
    #expect(try isUsable())
  }

  @Test func copyOutReportsAnErrorOfItsStatementWithoutItsValues() throws {
    let error = try #require(throws: PostgresError.self) {
      try integers("select nothing where \("secret") = 'x'")
    }
    #expect(error.sqlState == "42703")
    #expect(error.statement?.contains("$1") == true)
    #expect(error.statement?.contains("secret") == false)
    #expect(error.position == nil && error.line == nil)
    #expect(throws: PostgresError.self) { try integers("insert into t values (1)") }
    #expect(throws: PostgresError.self) { try integers("select $1") }
    #expect(throws: PostgresError.self) { try integers("select \("\0")") }
    #expect(try isUsable())
  }

  @Test func copyOutWithAnotherNumberOfColumnsIsRefused() throws {
    for columns in [0, 1, 3] {
      let error = try #require(throws: PostgresError.self) {
        try integers("select 1, 2", columns: columns)
      }
      #expect(error.message.contains("2 columns"))
      #expect(try isUsable())
    }
  }

  @Test func copyOutCanBeInterrupted() throws {
    let wake = try Wake()
    connection.interrupt = wake.descriptor
    let error = try #require(throws: PostgresError.self) {
      try connection.copyOut(
        "select i, case when i = 5 then pg_sleep(3600) end from generate_series(1, 10) i",
        columns: 2
      ) { rows in
        wake.trigger()
        while try rows.nextRow() {}
      }
    }
    #expect(error.kind == .interrupted)
  }

  @Test func copyOutEndsWhenTheServerIsSilentForTooLong() throws {
    connection.answerTimeout = .milliseconds(200)
    let error = try #require(throws: PostgresError.self) {
      try integers("select pg_sleep(3600)::text::int")
    }
    #expect(error.kind == .timeout)
  }

  @Test func copyOutReportsTheEndOfTheConnection() throws {
    let other = try database.connect()
    let pid = Int64(connection.serverProcessID)
    let error = try #require(throws: PostgresError.self) {
      try connection.copyOut("select generate_series(1, 100000000)", columns: 1) { rows in
        _ = try rows.nextRow()
        // While the server process waits for this side to read, it ends without a message. Elsewhere it would send
        // one, and wait for this side to read that.
        try eventually("the server process waits for its reader") {
          try other.ask("select wait_event from pg_stat_activity where pid = $1", [.integer(pid)])
            == "ClientWrite"
        }
        #expect(try other.ask("select pg_terminate_backend($1)", [.integer(pid)]) == "t")
        try eventually("the server process ends") {
          try other.ask("select count(*) from pg_stat_activity where pid = $1", [.integer(pid)])
            == "0"
        }
        while try rows.nextRow() {}
      }
    }
    #expect(error.kind == .connection)
  }

  // MARK: - Prefetched

  private func read(
    _ ticket: Connection.PrefetchTicket, after row: Int, atMost count: Int = .max
  ) throws -> (values: [Int64?], isCutShort: Bool)? {
    var values: [Int64?] = []
    var isCutShort = false
    let isThere = try connection.readPrefetchedCopy(ticket, after: row) { rows in
      while values.count < count, try rows.nextRow() { values.append(rows.value(0).integer) }
      isCutShort = rows.isCutShort
    }
    return isThere ? (values, isCutShort) : nil
  }

  @Test func aPrefetchedCopyOutIsReadInPartsBetweenOtherStatements() throws {
    let ticket = try connection.prefetchCopy(
      "select generate_series(1, \(5_000))", columns: 1)
    #expect(try read(ticket, after: 0, atMost: 10)?.values == (1...10).map { $0 })
    #expect(try connection.ask("select 7") == "7")
    #expect(try read(ticket, after: 10, atMost: 1_000)?.values == (11...1_010).map { $0 })
    #expect(try connection.executePrepared("select 8").integer(0, 0) == 8)
    // Other code has read its rows.
    #expect(try read(ticket, after: 10) == nil)
    let rest = try #require(try read(ticket, after: 1_010))
    #expect(rest.values == (1_011...5_000).map { $0 })
    #expect(!rest.isCutShort)
    #expect(try read(ticket, after: 5_000)?.values == [])
    #expect(try isUsable())
  }

  @Test func aPrefetchedCopyOutThatIsTooLongIsCutWithoutAGap() throws {
    let ticket = try connection.prefetchCopy(
      "select i, repeat('x', 1000) from generate_series(1, 1000000) i", columns: 2)
    #expect(try read(ticket, after: 0, atMost: 5)?.values == [1, 2, 3, 4, 5])
    #expect(try connection.ask("select 7") == "7")
    #expect(connection.isIdle)
    let rest = try #require(try read(ticket, after: 5))
    #expect(rest.isCutShort)
    #expect((1_000...6_000).contains(rest.values.count))
    #expect(rest.values == Array(6..<Int64(rest.values.count + 6)))
    #expect(try isUsable())
  }

  @Test func aPrefetchedCopyOutIsReplacedByTheNext() throws {
    let first = try connection.prefetchCopy("select generate_series(1, 10000000)", columns: 1)
    let second = try connection.prefetchCopy("select 2", columns: 1)
    #expect(try read(first, after: 0) == nil)
    #expect(try read(second, after: 0)?.values == [2])
    let third = try connection.prefetchCopy("select generate_series(1, 10000000)", columns: 1)
    let fourth = try connection.prefetch("select 4")
    #expect(try read(third, after: 0) == nil)
    let answer = try connection.takePrefetched(fourth)
    #expect(answer?.integer(0, 0) == 4)
    let fifth = try connection.prefetchCopy("select generate_series(1, 10000000)", columns: 1)
    connection.dropPrefetched(fourth)
    #expect(try read(fifth, after: 0, atMost: 1)?.values == [1])
    connection.dropPrefetched(fifth)
    #expect(try read(fifth, after: 1) == nil)
    #expect(try isUsable())
  }

  @Test func aPrefetchedCopyOutThatFailsSaysSoAfterItsRows() throws {
    let ticket = try connection.prefetchCopy(
      "select 1 / (5 - i) from generate_series(1, 10) i", columns: 1)
    #expect(try connection.ask("select 7") == "7")
    var count = 0
    let error = try #require(throws: PostgresError.self) {
      _ = try connection.readPrefetchedCopy(ticket, after: 0) { rows in
        while try rows.nextRow() { count += 1 }
      }
    }
    #expect(error.sqlState == "22012")
    #expect(count == 4)
    #expect(try isUsable())
    // And whose body throws.
    let second = try connection.prefetchCopy("select generate_series(1, 10000000)", columns: 1)
    #expect(throws: Stop.self) {
      _ = try connection.readPrefetchedCopy(second, after: 0) { _ in throw Stop() }
    }
    #expect(try read(second, after: 0) == nil)
    #expect(try isUsable())
  }
}
