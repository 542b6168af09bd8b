import Postgres
import TestSupport
import Testing

@Suite final class StreamTests: EmptyDatabaseSuite {
  private struct Stop: Error {}

  @Test func aStreamedQueryPassesOnEveryRowInOrder() throws {
    var next: Int64 = 1
    var calls = 0
    try connection.stream(
      "select i::bigint, \("é")::text from generate_series(1, 10000) i"
    ) { rows in
      calls += 1
      for row in 0..<rows.rowCount {
        #expect(rows.binary(row, 0).integer == next)
        #expect(rows.text(row, 1) == "é")
        next += 1
      }
    }
    #expect(next == 10_001)
    #expect(calls > 10)
    #expect(try connection.ask("select 1") == "1")
  }

  @Test func aStreamedQueryNeedsMemoryForAFewRows() throws {
    let other = try database.connect()
    let pid = Int64(connection.serverProcessID)
    var memory: [Range<UInt>] = []
    var bytes = 0
    var waits = 0
    // 150 MB of rows.
    try connection.stream("select repeat('x', 100000) from generate_series(1, 1500)") { rows in
      // At the first row, and after each 50 MB. Had the client received the rest, the server would be done.
      if bytes >= waits * 50_000_000 {
        waits += 1
        try eventually("the server process waits for its reader") {
          try other.ask("select wait_event from pg_stat_activity where pid = $1", [.integer(pid)])
            == "ClientWrite"
        }
      }
      for row in 0..<rows.rowCount {
        let value = rows.bytes(row, 0)
        bytes += value.count
        let start = UInt(bitPattern: value.baseAddress)
        memory.append(start..<start + UInt(value.count))
      }
    }
    #expect(bytes == 150_000_000)
    #expect(waits == 3)
    // Rows that are kept do not share memory, whatever other tests allocate.
    var size: UInt = 0
    var end: UInt = 0
    for range in memory.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      size += max(range.upperBound, end) - max(range.lowerBound, end)
      end = max(range.upperBound, end)
    }
    #expect(size < 75_000_000)
  }

  @Test func aStreamedQueryIsCancelledWhenItsBodyThrows() throws {
    var calls = 0
    #expect(throws: Stop.self) {
      try connection.stream("select generate_series(1, 100000000)") { _ in
        calls += 1
        if calls == 3 { throw Stop() }
      }
    }
    #expect(calls == 3)
    #expect(try connection.ask("select 1") == "1")
    #expect(try connection.executePrepared("select 2").integer(0, 0) == 2)
  }

  @Test func aStreamedQueryPassesOnTheRowsBeforeAnError() throws {
    var rows = 0
    let error = try #require(throws: PostgresError.self) {
      try connection.stream("select 1 / (2000 - i) from generate_series(1, 3000) i") { result in
        rows += result.rowCount
      }
    }
    #expect(error.sqlState == "22012")
    #expect(rows == 1999)
    #expect(try connection.ask("select 1") == "1")
  }
}
