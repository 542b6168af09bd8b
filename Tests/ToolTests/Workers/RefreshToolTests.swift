import Foundation
import Synchronization
import TestSupport
import Testing

/// Requests that workers poll now.
@Suite final class RefreshToolTests: ToolSuite {
  /// A feed that changes when a test says so.
  private final class ChangingFeed: Sendable {
    private let answer = Mutex<(status: Int, headers: [String], body: [UInt8])>((200, [], []))

    func set(_ status: Int = 200, _ headers: [String] = [], _ body: String = "") {
      answer.withLock { $0 = (status, headers, Array(body.utf8)) }
    }

    func serve() throws -> ScriptedServer {
      try ScriptedServer { [self] _, client in
        let answer = answer.withLock { $0 }
        client.answer(answer.status, answer.headers, answer.body)
      }
    }
  }

  private func start(_ url: String, interval: String = "0s") throws -> ToolProcess {
    let worker = try database.start(
      "quake-ingest", ["run", "--feed", "\(url)@1h", "--refresh-interval", interval])
    try worker.waitForError("all_day: 3 seen")
    return worker
  }

  private func refresh(_ arguments: [String] = []) throws -> ToolProcess.Outcome {
    try database.run("quake-admin", ["refresh"] + arguments)
  }

  @Test func theResultIsReported() throws {
    let feed = ChangingFeed()
    feed.set(200, [], Feeds.collection(count: 3))
    let server = try feed.serve()
    let worker = try start(server.url)
    feed.set(200, [], Feeds.collection(count: 5))
    let outcome = try refresh().expect(0)
    let token = try database.value("select quake.latest_token()")
    #expect(outcome.lines == ["all_day: 5 seen: 2 inserted, 0 updated; import 2; token \(token)"])
    #expect(outcome.errors.isEmpty)

    feed.set(200, ["ETag: \"1\""], Feeds.collection(count: 5, magnitude: "3.5"))
    let line = try JSONLine(try #require(try refresh(["all_day", "--json"]).lines.first))
    #expect(
      line.keys == [
        "request", "feed", "outcome", "import", "seen", "inserted", "updated", "token", "error",
      ])
    #expect(line.string("feed") == "all_day" && line.string("outcome") == "imported")
    #expect(line.integer("request") == 2 && line.integer("import") == 3)
    #expect(line.integer("seen") == 5 && line.integer("inserted") == 0)
    #expect(line.integer("updated") == 5 && line.isNull("error"))
    #expect(line.string("token") == (try database.value("select quake.latest_token()")))

    feed.set(304)
    #expect(try refresh().lines == ["all_day: not modified"])
    try worker.end()
    #expect(server.requests.count == 4)
  }

  @Test func aFailedPollIsReportedWithItsStatus() throws {
    let feed = ChangingFeed()
    feed.set(200, [], Feeds.collection(count: 3))
    let server = try feed.serve()
    let worker = try start(server.url)
    feed.set(200, [], "<html>")
    try refresh().expectFailure(65, "could not refresh feed \"all_day\"", "HTML")
    // A quarantined snapshot is no success either.
    feed.set(200, [], Feeds.collection(count: 3, generated: 1_600_000_000_000))
    try refresh().expect(65, "quarantined as ")
    feed.set(500)
    let line = try refresh(["--json"]).expect(69)
    #expect(try JSONLine(try #require(line.lines.first)).string("outcome") == "unavailable")
    try refresh(["all_week"]).expect(64, "The feeds are all_day.")
    // Earlier failures do not prevent another request.
    feed.set(200, [], Feeds.collection(count: 4))
    #expect(try refresh().status == 0)
    try worker.end()
    #expect(server.requests.count == 5)
  }

  @Test func withoutAWorkerARefreshFails() throws {
    try refresh().expect(64, "there is no feed to refresh")
    try database.psql("insert into quake.feed (name, url) values ('all_day', 'x');")
    try refresh().expect(69, "no worker runs that polls it")
  }

  @Test func waitingForASlowPollTimesOut() throws {
    let release = Flag()
    let body = Array(Feeds.collection(count: 3).utf8)
    let server = try ScriptedServer { request, client in
      if request.number > 0 { try? release.wait() }
      client.answer(200, [], body)
    }
    let worker = try start(server.url)
    try refresh(["--timeout", "500ms"]).expect(69, "was not polled within 500ms")
    release.raise()
    try worker.end()
  }

  /// Several requests from psql cause one poll, after the interval that must pass between
  /// refreshes.
  @Test func requestsShareAPollThatIsNotTooSoon() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 3).utf8))
    let worker = try start(server.url, interval: "2s")
    let before = try database.value("select polled_at from quake.feed")
    // What is rolled back asks for nothing.
    try database.psql("begin; select quake.request_refresh(); rollback;")
    // It sees all of them at once.
    try worker.stop()
    let ids = try (0..<5).map { _ in
      try database.psql("select quake.request_refresh('all_day');").output
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    #expect(Set(ids).count == 1, "\(ids)")
    worker.signal(SIGCONT)
    try eventually("all are answered") {
      try database.value("select bool_and(outcome = 'imported') from quake.refresh_request") == "t"
    }
    #expect(
      try database.value("select count(distinct import_id) from quake.refresh_request") == "1")
    try worker.end()
    #expect(server.requests.count == 2)
    #expect(
      try database.value(
        "select polled_at - '\(before)'::timestamptz >= interval '1.9 s' from quake.feed") == "t")
  }

  @Test func aWatcherCanRequestARefreshAndSeesTheChanges() throws {
    let feed = ChangingFeed()
    feed.set(200, [], Feeds.collection(count: 3))
    let server = try feed.serve()
    let worker = try start(server.url)
    feed.set(200, [], Feeds.collection(count: 4))
    let watch = try database.start("quake-watch", ["--refresh", "--json"])
    #expect(try JSONLine(watch.line()).string("code") == "us4")
    try watch.waitForError("asked the workers to poll their feeds")
    try watch.waitForError("4 seen: 1 inserted, 0 updated; import 2; token 2.")
    try watch.end()
    try worker.end()
    #expect(server.requests.count == 2)
    // Without a feed the watcher prints a warning and continues.
    let empty = try TestDatabase()
    let idle = try empty.start("quake-watch", ["--refresh"])
    try idle.waitForError("could not ask for a refresh: there is no feed to refresh")
    try idle.end()
    try empty.run("quake-watch", ["--refresh", "--no-follow"]).expect(64)
  }
}
