import Glibc
import Postgres
import TestSupport
import Testing

@Suite("A streamed query")
struct StreamTests {
  private let database: TestDatabase
  private let connection: Connection

  init() throws {
    database = try TestDatabase.empty()
    connection = try database.connect()
  }

  private struct Stop: Error {}

  @Test("passes on every row in order")
  func order() throws {
    var next: Int64 = 1
    var calls = 0
    try connection.stream(
      "select i::bigint, $1::text from generate_series(1, 10000) i", [.text("é")]
    ) { rows in
      calls += 1
      for row in 0..<rows.rowCount {
        #expect(rows.binaryInteger(row, 0) == next)
        #expect(rows.text(row, 1) == "é")
        next += 1
      }
    }
    #expect(next == 10_001)
    #expect(calls > 10)
    #expect(try connection.ask("select 1") == "1")
  }

  @Test("without rows never calls its body")
  func empty() throws {
    try connection.stream("select 1 where false") { _ in
      Issue.record("there is no row")
    }
    #expect(try connection.ask("select 1") == "1")
  }

  @Test("needs memory for a few rows, not for all")
  func memory() throws {
    func residentPages() throws -> Int {
      let file = try #require(fopen("/proc/self/statm", "r"))
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 128)
      fgets(&line, Int32(line.count), file)
      let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        .split(separator: " ")
      return try #require(Int(words[1]))
    }
    let before = try residentPages()
    var most = 0
    var bytes = 0
    var calls = 0
    // 150 MB of rows.
    try connection.stream("select repeat('x', 100000) from generate_series(1, 1500)") { rows in
      for row in 0..<rows.rowCount { bytes += rows.bytes(row, 0).count }
      calls += 1
      if calls % 100 == 0 { most = max(most, try residentPages()) }
    }
    #expect(bytes == 150_000_000)
    // Other tests run meanwhile, hence the generous bound.
    #expect((most - before) * 4096 < 75_000_000)
  }

  @Test("is cancelled when its body throws, and the connection stays usable")
  func throwing() throws {
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

  @Test("reports an error in its middle after the rows before it")
  func failing() throws {
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

  @Test("reports an error at its beginning")
  func syntax() throws {
    let error = try #require(throws: PostgresError.self) {
      try connection.stream("select\nnothing") { _ in }
    }
    #expect(error.sqlState == "42703")
    #expect(error.line == 2)
    #expect(try connection.ask("select 1") == "1")
  }
}
