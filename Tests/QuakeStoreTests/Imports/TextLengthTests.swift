import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory
@testable import QuakeSchema

@Suite final class TextLengthTests: DatabaseSuite {
  private static let short = 1024
  private static let long = 65_536
  private static let longColumns = ["place", "title", "url", "detail", "ids", "sources", "types"]

  @Test(arguments: ServerVersion.usual)
  func anEventMayHaveTextsUpToTheLimitAndNotOneByteMore(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    defer { withExtendedLifetime(database) {} }
    let columns = EventColumn.allCases.filter { $0.kind == .text && $0 != .code }.map(\.name)
    #expect(columns.count == 15)
    for column in columns {
      try connection.run("truncate quake.quake")
      let limit = Self.longColumns.contains(column) ? Self.long : Self.short
      let value = "repeat('é', \(limit / 2))"
      try connection.run(
        "insert into quake.quake (code, time, \(column)) values ('a', now(), \(value))")
      let error = try #require(throws: PostgresError.self) {
        try connection.run("update quake.quake set \(column) = \(value) || 'x'")
      }
      #expect(error.sqlState == "23514")
      #expect(
        error.constraint
          == (limit == Self.long ? "quake_long_text_length" : "quake_short_text_length"))
    }
  }

  /// Columns that only the owner and the history's trigger write, that PostgreSQL itself keeps short, or that refer to
  /// such a column.
  private static let unlimited = [
    "association_pending.code", "quake.code", "import.quarantine_reason", "watcher.name",
    "watcher.nonce", "watcher_removal.name",
    "backfill_window.state", "backfill_file.path", "refresh_request.requested_by",
    "consumer.name", "conversation.consumer", "conversation.state", "conversation_event.consumer",
    "conversation_event.conversation", "conversation_past.consumer",
    "conversation_past.conversation", "delivery.consumer", "delivery.kind",
    "regional_database.name",
  ]

  @Test func everyTableThatOthersWriteLimitsItsTexts() throws {
    let columns = try connection.table(
      """
      select c.relname || '.' || a.attname
        from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'quake'::regnamespace and c.relkind = 'r' and a.attnum > 0
         and a.atttypid = 'text'::regtype
         and c.relname not in ('quake_version', 'change_transaction', 'migration')
         and not exists (
           select from pg_constraint k
            where k.conrelid = c.oid and k.contype = 'c' and a.attnum = any (k.conkey)
              and k.conname like '%\\_text\\_length')
       order by 1
      """)
    #expect(columns.sorted() == Self.unlimited.sorted())
  }

  @Test(arguments: ServerVersion.usual)
  func theAuthorAndTheReasonOfAWriterAreLimited(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    defer { withExtendedLifetime(database) {} }
    try connection.transaction {
      try connection.run(
        "select set_config('quake.author', repeat('é', 1000000), true)",
        "select set_config('quake.context', repeat('x', 20000000), true)")
      try connection.insertQuakes("a")
    }
    #expect(
      try connection.table("select length(author), length(context) from quake.change_transaction")
        == ["200|2000"])
  }

  /// The longest texts that the schema allows, in two versions of each event.
  private func storeLongTexts(_ events: Int) throws {
    let sets = Self.longColumns.map { "\($0) = repeat('\u{01}', \(Self.long))" }
    try connection.run(
      "insert into quake.quake (code, time) select 'e' || i, now() from generate_series(1, \(events)) i",
      "update quake.quake set \(sets.joined(separator: ", "))",
      "update quake.quake set felt = 1")
  }

  /// Reads to the end; the most long texts that a page has.
  private func most(
    _ readPage: ((Change) throws -> Void) throws -> Bool
  ) throws -> Int {
    var most = 0
    var isAtEnd = false
    while !isAtEnd {
      var inPage = 0
      isAtEnd = try readPage { if $0.new?.text(.place)?.utf8.count == Self.long { inPage += 1 } }
      most = max(most, inPage)
    }
    return most
  }

  @Test func theBytesOfAPageOfTheHistoryAreBounded() throws {
    try storeLongTexts(40)
    let expected = try connection.historyLines()
    var reader = try HistoryReader(connection: connection, after: ChangeToken.beginning)
    var lines = 0
    let largest = try most { count in
      try reader.readPage {
        lines += 1
        try count($0)
      }
    }
    #expect(lines == expected.count && lines == 120)
    #expect(largest > 0 && largest <= 10)
    // The reader goes back to full pages.
    try connection.run(
      "insert into quake.quake (code, time) select 's' || i, now() from generate_series(1, 700) i")
    var counts: [Int] = []
    while true {
      var count = 0
      let isAtEnd = try reader.readPage { _ in count += 1 }
      counts.append(count)
      if isAtEnd { break }
    }
    #expect(counts.reduce(0, +) == 700)
    #expect(counts.contains(HistoryReader.pageSize))
  }

  @Test(arguments: [HistoryQuery.Order.ascending, .descending])
  func theBytesOfAPageOfAHistoryQueryAreBounded(_ order: HistoryQuery.Order) throws {
    try storeLongTexts(40)
    for codes in [nil, Set((1...40).map { "e\($0)" })] {
      var request = HistoryQuery()
      request.order = order
      request.filter.codes = codes
      var reader = try HistoryQueryReader(request, over: connection)
      var seen: Set<String> = []
      let largest = try most { count in
        try reader.readPage {
          seen.insert("\($0.transaction.token) \($0.position)")
          try count($0)
        }
      }
      #expect(seen.count == 120)
      #expect(largest > 0 && largest <= 10)
    }
  }
}
