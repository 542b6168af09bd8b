import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeImport

@Suite final class ImporterFailureTests: DatabaseSuite {
  private struct Interruption: Error {}

  private func options(commitEvery: Int? = nil) -> ImportOptions {
    var options = ImportOptions(source: "-", feed: "feed", program: "tests", author: "importer")
    options.commitEvery = commitEvery
    return options
  }

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
      var source = FakeSource(
        (0..<before).map { .record(EventRecord("t\($0)")) } + [.action { throw Interruption() }])
      #expect(throws: Interruption.self) {
        try Importer(connection: connection, options: options()).run(from: &source)
      }
      #expect(try nothing(connection))
    }
    var source = FakeSource([EventRecord("a")])
    #expect(
      try Importer(connection: connection, options: options()).run(from: &source).inserted == 1)
  }

  @Test func anImportThatTheDatabaseRefusesIsRolledBack() throws {
    var source = FakeSource([EventRecord("a"), EventRecord("b", magnitude: 99)])
    let error = try #require(throws: PostgresError.self) {
      try Importer(connection: connection, options: options()).run(from: &source)
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
    var source = FakeSource(items)
    let error = try #require(throws: PostgresError.self) {
      try Importer(connection: connection, options: options()).run(from: &source)
    }
    #expect(error.kind == .connection)
    #expect(error.isConnectionLoss)
    #expect(try nothing(observer))
  }

  @Test func anInterruptedImportKeepsItsBatchesAndCanBeRepeated() throws {
    let records = (0..<25).map { EventRecord("b\($0)") }
    var broken = FakeSource(
      records[..<17].map { .record($0) } + [.action { throw Interruption() }])
    #expect(throws: Interruption.self) {
      try Importer(connection: connection, options: options(commitEvery: 5)).run(from: &broken)
    }
    // Two records of the fourth batch had been read.
    #expect(try connection.ask("select count(*) from quake.quake") == "15")
    let token = try connection.latestToken()
    #expect(
      try connection.table("select seen, inserted, complete, token from quake.import")
        == ["15|15|f|\(token.number)"])
    var whole = FakeSource(records)
    let report = try Importer(connection: connection, options: options(commitEvery: 5))
      .run(from: &whole)
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
    var source = FakeSource((0..<25).map { EventRecord("s\($0)") })
    var asked = 0
    let report = try Importer(connection: connection, options: options(commitEvery: 10)).run(
      from: &source,
      shouldStop: {
        asked += 1
        return asked == 2
      })
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
        var source = FakeSource(records)
        let report = try Importer(
          connection: connection,
          options: ImportOptions(source: "-", feed: "f", program: "tests", author: "\(thread)")
        ).run(from: &source)
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
      var source = FakeSource([EventRecord("a", magnitude: 1)], generated: "2024-01-01T00:00:00Z")
      let report = try Importer(
        connection: connection,
        options: ImportOptions(source: "-", feed: "f", program: "tests", author: "late")
      ).run(from: &source)
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
