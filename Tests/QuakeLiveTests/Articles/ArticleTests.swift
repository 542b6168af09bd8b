import EmbeddedPostgres
import Foundation
import QuakeStore
import TestSupport
import Testing

/// The articles of the DocC catalogue and docs/library.md: their code is that of the files beside this one.
@Suite struct ArticleTests {
  private struct Enough: Error {}

  private static let bulletin = """
    b1 2024-01-31T12:00:00Z 1 2 6.5
    b2 2024-01-31T13:00:00Z 1 2 5.5
    b3 yesterday 1 2 4
    """

  private let database: LiveDatabase
  private let connection: Connection

  init() throws {
    database = try LiveDatabase()
    connection = try database.test.connect()
  }

  // MARK: - Texts

  @Test func theCodeOfTheArticlesIsCompiledHere() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let compiled = try Self.files(in: folder, ending: "swift")
    let package = folder.appendingPathComponent("../../..")
    let catalogue = package.appendingPathComponent("Sources/QuakeStore/QuakeStore.docc")
    let documents =
      try Self.files(in: catalogue, ending: "md") + [
        String(contentsOf: package.appendingPathComponent("docs/library.md"), encoding: .utf8)
      ]
    let blocks = documents.flatMap { document in
      document.components(separatedBy: "```swift\n").dropFirst().map {
        $0.components(separatedBy: "```")[0]
      }
    }
    #expect(blocks.count > 15)
    for block in blocks {
      #expect(compiled.contains { $0.contains(block) }, "no file here has \(block)")
    }
  }

  private static func files(in folder: URL, ending: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == ending }.map { try String(contentsOf: $0, encoding: .utf8) }
  }

  // MARK: - Getting started

  @Test func theCodeOfGettingStartedOpensDatabases() async throws {
    try await openDatabase(database.test.conninfo).check()
    let home = TestServer.shared.server.options.home
    try await openPrivateDatabase(in: home).check()
  }

  @Test func theCodeOfTheArticlesReadsAndChangesEvents() async throws {
    try connection.insertQuakes("small", magnitude: 5)
    try connection.insertQuakes("large", magnitude: 7)
    try await setPlace(of: "large1", to: "Chile", in: database.live)
    #expect(try await strongEvents(in: database.live) == ["7.0 Chile"])
    #expect(
      try await daily(in: database.live, since: Timestamp(microseconds: 0)) == ["2 6.0"])
    #expect(
      try await authors(in: database.live, after: .beginning) == [
        "unknown: 1", "unknown: 1", "ann: 1",
      ])
  }

  // MARK: - Following changes

  @Test func theCodeOfFollowingChangesFollowsAndShowsAList() async throws {
    try connection.insertQuakes("small", magnitude: 5)
    try connection.insertQuakes("large", magnitude: 7)
    var codes: [String?] = []
    await #expect(throws: Enough.self) {
      try await follow(database.live, after: HistoryCursor(token: .beginning)) { change in
        codes.append(change.code)
        throw Enough()
      }
    }
    #expect(codes == ["large1"])
    try connection.run("update quake.quake set place = code")
    try connection.run("update quake.quake set magnitude = 7.1 where code = 'large1'")
    let token = try #require(ChangeToken(try connection.ask("select quake.latest_token()") ?? ""))
    try connection.run("update quake.quake set magnitude = 7 where code = 'large1'")
    let magnitudes = try await magnitudes(of: "large1", in: database.live, at: token)
    #expect(magnitudes.all == [7, 7, 7.1, 7] && magnitudes.then == 7.1)
    var drawn: [[String]] = []
    await #expect(throws: Enough.self) {
      try await show(database.live) { rows in
        drawn.append(rows)
        guard drawn.count < 2 else { throw Enough() }
        try connection.run("update quake.quake set magnitude = 8 where code = 'small1'")
      }
    }
    #expect(drawn == [["large1", "small1"], ["small1", "large1"]])
  }

  @Test func theCodeOfTheArticlesLeavesOutTheChangesOfOneAuthor() async throws {
    let live = database.live
    let following = Task {
      var codes: [String?] = []
      await #expect(throws: Enough.self) {
        try await followOthers(live) { changes in
          codes += changes.map(\.code)
          throw Enough()
        }
      }
      return codes
    }
    // What is committed from here on is after its first request.
    #expect(try connection.eventually(LiveDatabase.idle(after: "select t.token, v.id")))
    try connection.execute("set quake.author = 'map'")
    try connection.insertQuakes("own")
    try connection.execute("set quake.author = 'ann'")
    try connection.insertQuakes("other")
    #expect(await following.value == ["other1"])
  }

  // MARK: - Tokens and cursors

  @Test func theCodeOfTokensMirrorsEventsAndBeginsAnewInAnotherHistory() async throws {
    #expect(throws: StoreError.self) { try cursor(from: "somewhere") }
    try connection.insertQuakes("a", 2)
    for saved in [nil, try cursor(from: "1.00000000"), try cursor(from: "0")] {
      var copy: [String] = []
      var place: HistoryCursor?
      await #expect(throws: Enough.self) {
        try await mirror(database.live, from: saved) { events, cursor in
          copy = events.compactMap { $0.code }
          place = cursor
          try connection.execute("delete from quake.quake where code = 'a1'")
          try connection.insertQuakes("b")
        } apply: { change, cursor in
          if change.op == .insert { copy.append(change.code ?? "") }
          if change.op == .delete { copy.removeAll { $0 == change.code } }
          place = cursor
          if copy == ["a2", "b1"] { throw Enough() }
        }
      }
      #expect(copy == ["a2", "b1"])
      #expect(place != nil)
      if saved == nil {
        try connection.execute("delete from quake.quake")
        try connection.insertQuakes("a", 2)
      }
    }
  }

  // MARK: - Imports

  @Test func theCodeOfConcurrencyImportsFromATask() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).csv"
    defer { unlink(path) }
    try """
    time,latitude,longitude,depth,mag,magType,place,type,id,updated
    2026-11-22T09:00:00.000Z,1,2,3,4.5,mb,somewhere,earthquake,us1,2026-11-22T09:10:00.000Z

    """.write(toFile: path, atomically: true, encoding: .utf8)
    try await OwnThread.run { [database] in
      try await importAll(into: database.live, feed: path)
    }
    let codes = try connection.table("select code from quake.quake order by code")
    #expect(codes == ["local1", "us1"])
  }

  @Test func theCodeOfImportingImportsABulletin() async throws {
    let report = try await importBulletin(Self.bulletin, into: database.live)
    #expect(report.inserted == 2)
    #expect(report.rejected == 1)
    #expect(report.firstReject?.place == "line 3")
    #expect(
      try await importBulletin("b4 2024-01-31T14:00:00Z 1 2 7", into: database.live).inserted == 1)
  }

  // MARK: - Services and logs

  @Test func followsAFeedAndLogsUntilItIsCancelled() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).csv"
    defer { unlink(path) }
    func write(_ codes: String...) throws {
      let rows = codes.map {
        "2026-11-22T09:00:00.000Z,1,2,3,6.5,mb,somewhere,earthquake,\($0),2026-11-22T09:10:00.000Z"
      }
      let header = "time,latitude,longitude,depth,mag,magType,place,type,id,updated"
      try ([header] + rows + [""]).joined(separator: "\n").write(
        toFile: path, atomically: true, encoding: .utf8)
    }
    try write("us1")
    let (messages, log) = AsyncStream<String>.makeStream()
    let live = openDatabase(
      database.test.conninfo + " connect_timeout=180",
      logger: Logger { level, message in log.yield("\(level): \(message)") })
    let follower: any Service = FeedFollower(live, feeds: [path], every: .zero)
    let (alerts, alert) = AsyncStream<String>.makeStream()
    let alerting: any Service = Alerts(database: database.live) { alert.yield($0.code ?? "") }
    let services = [
      Task(executorPreference: OwnThread.shared) { try await alerting.run() },
      Task(executorPreference: OwnThread.shared) { try await follower.run() },
    ]
    #expect(try connection.eventually("exists (select from quake.quake where code = 'us1')"))
    try write("us1", "us2")
    #expect(try connection.eventually("exists (select from quake.quake where code = 'us2')"))
    // The feed of a moment in which nothing is there is tried again.
    unlink(path)
    var (missing, found) = (false, 0)
    for await message in messages {
      if message.contains("warning: could not import") { missing = true }
      if message.contains("info: imported") { found += 1 }
      if missing { break }
    }
    #expect(missing && found >= 2)
    services[1].cancel()
    try await services[1].value
    var alerted: [String] = []
    for await code in alerts {
      alerted.append(code)
      if code == "us2" { break }
    }
    services[0].cancel()
    await #expect(throws: CancellationError.self) { try await services[0].value }
  }

  // MARK: - Coming from Core Data

  @Test func theCodeForCoreDataUpdatesDeletesPurgesAndSorts() async throws {
    try connection.insertQuakes("a", 3)
    let live = database.live
    let time = try #require(Timestamp(iso8601: "2024-01-31T12:00:02Z"))
    #expect(try await validateAll(after: time, in: live) == 2)
    try connection.run(
      "update quake.quake set depth = substr(code, 2)::int, source = 'x' where code <> 'a1'")
    #expect(try await deepest(1, in: live) == ["a3"])
    #expect(try await deleteAll(ofSource: "x", in: live) == 2)
    #expect(try await undo(live.latestToken(), in: live) == 2)
    let newest = try await live.latestToken()
    try await purgeHistory(before: newest, in: live)
    #expect(try connection.ask("select quake.oldest_token()") == "\(newest)")
  }
}
