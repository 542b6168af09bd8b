import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeImport

@Suite final class ImporterFailureTests: DatabaseSuite {
  private struct Interruption: Error {}

  private func nothing(_ other: Connection) throws -> Bool {
    try other.ask(
      """
      select not exists (select from quake.quake) and not exists (select from quake.import)
         and not exists (select from quake.quake_version)
         and not exists (select from quake.change_transaction)
      """) == "t"
  }

  @Test func anImportWhoseSourceFailsIsRolledBack() throws {
    for before in [0, 1, 5_000] {
      let source = FakeSource(
        (0..<before).map { .record(EventRecord("t\($0)")) } + [.action { throw Interruption() }])
      #expect(throws: Interruption.self) { try connection.load(source) }
      #expect(try nothing(connection))
    }
    #expect(try connection.load(FakeSource([EventRecord("a")])).inserted == 1)
  }

  @Test func anImportThatTheDatabaseRefusesIsRolledBack() throws {
    let error = try #require(throws: PostgresError.self) {
      try connection.load(FakeSource([EventRecord("a"), EventRecord("b", magnitude: 99)]))
    }
    #expect(error.constraint == "quake_magnitude_range")
    #expect(try nothing(connection))
  }

  @Test func anImportWhoseConnectionIsKilledIsRolledBack() throws {
    let observer = try database.connect()
    let pid = Int64(connection.serverProcessID)
    let kill: () throws -> Void = {
      let ended = try observer.ask("select pg_terminate_backend($1, 180000)", [.integer(pid)])
      #expect(ended == "t")
    }
    var items: [FakeSource.Item] = (0..<4_000).map { .record(EventRecord("k\($0)")) }
    items.insert(.action(kill), at: 2_000)
    let error = try #require(throws: PostgresError.self) {
      try connection.load(FakeSource(items))
    }
    #expect(error.kind == .connection)
    #expect(error.isConnectionLoss)
    #expect(try nothing(observer))
  }

  @Test func anInterruptedImportKeepsItsBatchesAndCanBeRepeated() throws {
    let records = (0..<25).map { EventRecord("b\($0)") }
    let broken = FakeSource(
      records[..<17].map { .record($0) } + [.action { throw Interruption() }])
    #expect(throws: Interruption.self) { try connection.load(broken) { $0.commitEvery = 5 } }
    // Two records of the fourth batch had been read.
    #expect(try connection.ask("select count(*) from quake.quake") == "15")
    let token = try connection.latestToken()
    #expect(
      try connection.table("select seen, inserted, complete, token from quake.import")
        == ["15|15|f|\(token.number)"])
    let report = try connection.load(FakeSource(records)) { $0.commitEvery = 5 }
    #expect(report.seen == 25 && report.inserted == 10 && report.unchanged == 15)
    #expect(report.isComplete)
    #expect(report.token == (try connection.latestToken()))
    #expect(
      try connection.table(
        "select inserted, complete, token, bytes from quake.import order by id offset 1")
        == ["10|t|\(try #require(report.token).number)|2500"])
    // Only batches that changed something have a token, and refer to their import.
    #expect(
      try connection.table(
        """
        select import_id - (select min(id) from quake.import), inserted
          from quake.change_transaction order by token
        """) == ["0|5", "0|5", "0|5", "1|5", "1|5"])
    #expect(try connection.historyFaults() == [])
  }

  @Test func anImportCanBeStoppedBetweenTwoBatches() throws {
    var asked = 0
    let report = try connection.load(
      FakeSource((0..<25).map { EventRecord("s\($0)") }),
      by: {
        try $0.run(
          from: &$1,
          shouldStop: {
            asked += 1
            return asked == 2
          })
      }
    ) { $0.commitEvery = 10 }
    #expect(!report.isComplete)
    #expect(report.inserted == 20)
    #expect(
      try connection.table("select seen, inserted, complete from quake.import") == ["20|20|f"])
  }

  @Test func simultaneousImportsOfTheSameEventsInsertThemOnce() throws {
    let database = database
    let inserted = Tally()
    let updated = Tally()
    for round in 0..<5 {
      try BackgroundThread.run(4) { thread in
        let connection = try database.connect()
        var records = (0..<2_000).map { EventRecord("x\($0)", magnitude: Double(round)) }
        // In opposite orders.
        if thread % 2 == 1 { records.reverse() }
        let report = try connection.load(FakeSource(records))
        inserted.add(Int(report.inserted))
        updated.add(Int(report.updated))
      }
    }
    #expect(inserted.total == 2_000)
    #expect(updated.total == 8_000)
    #expect(
      try connection.ask(
        "select count(*) from quake.quake_version") == "10000")
    #expect(try connection.historyFaults() == [])
  }

  @Test func anOvertakenImportKeepsTheNewerRow() throws {
    let other = try database.connect()
    try other.run("begin")
    try other.run(
      """
      insert into quake.quake (code, source, time, magnitude, as_of)
      values ('a', 'usgs', '2024-01-01Z', 9, '2024-01-02Z')
      """)
    let database = database
    let updated = Tally()
    let thread = BackgroundThread {
      let connection = try database.connect(applicationName: "late")
      let report = try connection.load(FakeSource([EventRecord("a", magnitude: 1)], hour: 0))
      updated.add(Int(report.updated + report.inserted))
      #expect(report.unchanged == 1)
    }
    #expect(try connection.waitUntilBlocked(applicationName: "late"))
    try other.run("commit")
    try thread.join()
    #expect(updated.total == 0)
    #expect(try connection.ask("select magnitude from quake.quake") == "9")
    #expect(try connection.historyLines() == ["1:0 insert a"])
  }
}
