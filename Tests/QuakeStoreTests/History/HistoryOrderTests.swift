import Postgres
import QuakeModel
import TestSupport
import Testing

@Suite struct HistoryOrderTests {
  private let database: TestDatabase
  private let connection: Connection
  private let other: Connection

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
    other = try database.connect()
  }

  @Test(arguments: ["read committed", "repeatable read", "serializable"])
  func tokensAreInTheOrderOfTheCommits(isolation: String) throws {
    for writer in [connection, other] { try writer.run("begin isolation level \(isolation)") }
    try connection.insertQuakes("first to begin")
    try other.insertQuakes("last to begin")
    try other.run("commit")
    let early = try other.latestToken()
    #expect(early.number == 1)
    try connection.insertQuakes("more")
    try connection.run("commit")
    #expect(
      try connection.historyLines() == [
        "1:0 insert last to begin", "2:0 insert first to begin", "2:1 insert more",
      ])
    // A reader that was at the first commit sees the second.
    #expect(
      try connection.table(
        "select code from quake.changes_since($1)", [.text(early.description)])
        == ["first to begin", "more"])
    #expect(try connection.historyFaults() == [])
  }

  /// Were the order of commits kept by anything that serializable transactions read, distinct events
  /// would make them fail each other.
  @Test func serializableWritersOfDifferentEventsDoNotFailEachOther() throws {
    // Far apart, so that neither the events' own pages nor those of their indexes are shared: what
    // conflicts is then the history's.
    try connection.run(
      """
      insert into quake.quake (code, time)
      select 's' || lpad(i::text, 6, '0'), '2000-01-01Z'::timestamptz + i * interval '1 minute'
        from generate_series(0, 7999) i
      """, "analyze quake.quake")
    let database = database
    let failures = Tally()
    let threads = 4
    let each = 100
    try BackgroundThread.run(threads) { thread in
      let writer = try database.connect()
      try writer.run(
        "set default_transaction_isolation = serializable", "set enable_seqscan = off")
      let code = "s" + String("00000\(thread * 2000 + 500)".suffix(6))
      for number in 1...each {
        do {
          let updated = try writer.execute(
            "update quake.quake set felt = $2 where code = $1",
            [.text(code), .integer(Int64(number))])
          #expect(updated.affectedRows == 1)
        } catch let error as PostgresError where error.sqlState == "40001" {
          failures.add(1)
        }
      }
    }
    #expect(failures.total == 0)
    #expect(
      try connection.ask("select count(*) from quake.change_transaction") == "\(threads * each + 1)"
    )
    #expect(try connection.historyFaults() == [])
  }
}
