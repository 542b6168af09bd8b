import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import Basics
@testable import QuakeWorker

@Suite struct RefreshTests {
  private let database: TestDatabase
  private let asker: Connection
  private let worker: Connection

  init() throws {
    database = try TestDatabase()
    asker = try database.connect()
    worker = try database.connect()
    try FeedState.register([("day", "d"), ("hour", "h")], over: worker)
  }

  private func now() throws -> String {
    try #require(try worker.ask("select clock_timestamp()"))
  }

  private func isRung(_ connection: Connection) throws -> Bool {
    let deadline = Deadline(after: ToolProcess.patience)
    while try connection.takeNotifications().isEmpty {
      guard connection.wait(until: deadline) == .ready else { return false }
    }
    return true
  }

  @Test func aRefreshRequestReachesTheWorkerAndTheAnswerTheClient() throws {
    try RefreshQueue.listen(over: worker)
    try RefreshRequest.listen(over: asker)
    let request = try RefreshRequest.ask(for: "day", over: asker)
    #expect(try isRung(worker))
    var status = try #require(try request.status(over: asker).first)
    #expect(!status.isTaken && !status.isHeld && status.outcome == nil)
    #expect(try RefreshQueue.accept(for: ["hour"], over: worker) == [])
    #expect(try RefreshQueue.accept(for: ["day", "hour"], over: worker) == ["day"])
    _ = try FeedLock.acquire(["day"], over: worker)
    status = try #require(try request.status(over: asker).first)
    #expect(status.isTaken && status.isHeld && status.outcome == nil)

    var report = ImportReport()
    report.id = 12
    (report.seen, report.inserted, report.updated) = (5, 2, 1)
    let answer = RefreshQueue.Answer(.imported, report: report)
    try RefreshQueue.answer("day", before: now(), answer, over: worker)
    #expect(try isRung(asker))
    status = try #require(try request.status(over: asker).first)
    #expect(status.outcome == .imported && status.importID == 12 && status.error == nil)
    #expect(status.seen == 5 && status.inserted == 2 && status.updated == 1 && status.token == nil)
    #expect(try RefreshQueue.accept(for: ["day"], over: worker) == [])
  }

  @Test func refreshRequestsBeforeAPollShareIt() throws {
    let requests = try (0..<3).map { _ in try RefreshRequest.ask(for: "day", over: asker) }
    #expect(Set(requests.map(\.id)).count == 1)
    #expect(try RefreshQueue.accept(for: ["day"], over: worker) == ["day"])
    #expect(try RefreshRequest.ask(for: "day", over: asker).id == requests[0].id)
    #expect(try RefreshRequest.ask(for: "hour", over: asker).id != requests[0].id)
    let begun = try now()
    try RefreshQueue.begin("day", at: begun, over: worker)
    let late = try RefreshRequest.ask(for: "day", over: asker)
    #expect(late.id != requests[0].id)
    try RefreshQueue.answer("day", before: begun, RefreshQueue.Answer(.notModified), over: worker)
    for request in requests {
      #expect(try request.status(over: asker).first?.outcome == .notModified)
    }
    #expect(try late.status(over: asker).first?.outcome == nil)
    #expect(try RefreshQueue.accept(for: ["day"], over: worker) == ["day"])
    try RefreshQueue.answer(
      "day", before: now(), RefreshQueue.Answer(.badData, error: "it is HTML"), over: worker)
    let status = try #require(try late.status(over: asker).first)
    #expect(status.outcome == .badData && status.error == "it is HTML" && status.seen == nil)
  }

  @Test(arguments: ServerVersion.usual)
  func repeatedRefreshRequestsDoNotPileUp(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let asker = try database.connect()
    try FeedState.register([("day", "d"), ("hour", "h")], over: asker)
    defer { withExtendedLifetime(database) {} }
    let times = Tools.isSoak ? 20_000 : 2000
    try asker.run(
      "select quake.request_refresh('day') from generate_series(1, \(times))",
      "select quake.request_refresh() from generate_series(1, \(times))")
    #expect(try asker.ask("select count(*) from quake.refresh_request") == "3")
    // Each of these is begun and done before the next.
    for _ in 0..<3 {
      try asker.run(
        """
        do $$ begin for i in 1..500 loop
          perform quake.request_refresh('day');
          update quake.refresh_request set begun_at = now(), done_at = now(), outcome = 'imported'
           where done_at is null;
        end loop; end $$
        """)
    }
    let kept = try #require(Int(asker.ask("select count(*) from quake.refresh_request") ?? ""))
    #expect(kept > 900 && kept < 1100)
  }

  @Test func aRefreshOfAllFeedsIsAnotherThanOneOfEach() throws {
    let day = try RefreshRequest.ask(for: "day", over: asker)
    let all = try RefreshRequest.ask(for: nil, over: asker)
    #expect(day.id != all.id)
    #expect(try RefreshRequest.ask(for: nil, over: asker).id == all.id)
    try FeedState.register([("week", "w")], over: worker)
    // Within a second it counts as the same.
    try asker.run("update quake.refresh_request set requested_at = requested_at - interval '2 s'")
    let more = try RefreshRequest.ask(for: nil, over: asker)
    #expect(more.id != all.id)
    #expect(try more.status(over: asker).map(\.feed) == ["day", "hour", "week"])
  }

  @Test func aRefreshIsForThePolledFeedsOrAllThereAre() throws {
    #expect(
      try RefreshRequest.ask(for: nil, over: asker).status(over: asker).map(\.feed)
        == ["day", "hour"])
    _ = try FeedLock.acquire(["hour"], over: worker)
    try asker.run("update quake.refresh_request set requested_at = requested_at - interval '2 s'")
    #expect(
      try RefreshRequest.ask(for: nil, over: asker).status(over: asker).map(\.feed) == ["hour"])
  }

  @Test func aRefreshOfAnUnknownFeedNamesTheKnownOnes() throws {
    let error = #expect(throws: StoreError.self) {
      try RefreshRequest.ask(for: "week", over: asker)
    }
    #expect(error?.kind == .unknownFeed && error?.message == "unknown feed \"week\"")
    #expect(error?.detail == "The feeds are day, hour.")
    try asker.run("delete from quake.feed")
    for feed in ["week", nil] {
      let error = #expect(throws: StoreError.self) {
        try RefreshRequest.ask(for: feed, over: asker)
      }
      #expect(error?.kind == .unknownFeed && error?.message == "there is no feed to refresh")
    }
    #expect(try asker.ask("select count(*) from quake.refresh_request") == "0")
  }

  @Test func aRefreshRequestIsNotAwaitedForeverAndForgottenAfterADay() throws {
    let request = try RefreshRequest.ask(for: "day", over: asker)
    try asker.run("update quake.refresh_request set requested_at = now() - interval '11 minutes'")
    #expect(try RefreshQueue.accept(for: ["day"], over: worker) == [])
    try asker.run("update quake.refresh_request set requested_at = now() - interval '25 hours'")
    let next = try RefreshRequest.ask(for: "day", over: asker)
    #expect(try request.status(over: asker).isEmpty)
    #expect(try next.status(over: asker).count == 1)
  }
}
