import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-admin feeds`, and how workers obey it.
@Suite final class FeedsTests: ToolSuite {
  private func feeds(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-admin", ["feeds"] + arguments)
  }

  private func status(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-admin", ["status"] + arguments)
  }

  /// A server whose answers have validators, and answer "not modified" to requests with them.
  private func server() throws -> ScriptedServer {
    let body = Array(Feeds.collection(count: 3).utf8)
    return try ScriptedServer { request, client in
      if request.headers["if-none-match"] == "\"one\"" {
        client.answer(304, ["ETag: \"one\""], [])
      } else {
        client.answer(200, ["ETag: \"one\""], body)
      }
    }
  }

  private func worker(_ server: ScriptedServer, _ interval: String) throws -> ToolProcess {
    let worker = try database.start(
      "quake-ingest", ["run", "--feed", "\(server.url)@\(interval)", "--refresh-interval", "0s"])
    try worker.waitForError("all_day: 3 seen")
    return worker
  }

  /// Ends a worker, and waits until the server has ended its session, which has the locks of its feeds.
  private func end(_ worker: ToolProcess) throws {
    try worker.end()
    try database.waitForNone("quake-ingest")
  }

  @Test func aRunningWorkerPausesAFeedAndResumesIt() throws {
    let server = try server()
    let worker = try worker(server, "100ms")
    try feeds("pause", "all_day").expect(0, "paused feed all_day", output: "")
    try worker.waitForError("feed all_day is paused by ")
    let requests = server.requests.count
    // A refresh is answered, and does not poll it either.
    try database.run("quake-admin", ["refresh", "all_day"]).expect(69, "the feed is paused by ")
    let all = try database.run("quake-admin", ["refresh"])
    #expect(all.errors.contains("all are paused"), "\(all.errors)")
    // Ten intervals later the worker is still at work, and has not polled.
    let polls = try database.value("select polled_at from quake.feed")
    try eventually("ten intervals have passed") {
      try database.value("select clock_timestamp() > '\(polls)'::timestamptz + interval '1 s'")
        == "t"
    }
    let later = try database.run("quake-admin", ["refresh", "all_day"])
    #expect(later.errors.contains("the feed is paused by "), "\(later.errors)")
    #expect(try database.value("select polled_at from quake.feed") == polls)
    // The request of a poll that the pause has cancelled may be noticed late.
    #expect(server.requests.count <= requests + 1)

    let paused = try status().expect(0)
    #expect(paused.output.contains(/paused by \w+ since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/))
    try feeds("pause", "all_day").expect(0, "is already paused by ")

    #expect(try feeds("resume", "all_day").status == 0)
    try worker.waitForError("feed all_day is resumed")
    try eventually("the feed is polled again") {
      try database.value("select polled_at > '\(polls)' from quake.feed") == "t"
    }
    #expect(try feeds("resume", "all_day").errors.contains("is not paused"))
    try end(worker)
  }

  @Test func aPauseOutlastsTheWorkersAndStopsASinglePoll() throws {
    let server = try server()
    try end(try worker(server, "1h"))
    #expect(try feeds("pause", "all_day").status == 0)
    let requests = server.requests.count
    try database.run("quake-ingest", ["run", "--once", "--feed", server.url]).expect(
      75, "feed \"all_day\" is paused by ")
    let next = try database.start("quake-ingest", ["run", "--feed", "\(server.url)@100ms"])
    try next.waitForError("feed all_day is paused by ")
    #expect(server.requests.count == requests)
    #expect(try feeds("resume", "all_day").status == 0)
    try eventually("the feed is polled") { server.requests.count > requests }
    try end(next)
  }

  @Test func aResetMakesTheNextPollReadEverything() throws {
    let server = try server()
    let worker = try worker(server, "100ms")
    try eventually("the server answers: not modified") {
      server.requests.last?.headers["if-none-match"] != nil
    }
    try database.psql(
      """
      insert into quake.absence (code, feed, snapshots, since, withdrawn_at)
      values ('counted', 'all_day', 1, now(), null), ('gone', 'all_day', 3, now(), now())
      """)
    let before = server.requests.count
    let imports = try database.count("quake.import")
    #expect(try feeds("reset", "all_day").status == 0)
    try eventually("a request has no validators") {
      server.requests.dropFirst(before).contains { $0.headers["if-none-match"] == nil }
    }
    try eventually("the snapshot is imported again") {
      try database.count("quake.import") > imports
    }
    // An event that is withdrawn stays so.
    #expect(try database.column("select code from quake.absence order by code") == ["gone"])
    try end(worker)
  }

  @Test func aFeedIsForgottenUnlessAWorkerPollsIt() throws {
    let server = try server()
    let worker = try worker(server, "1h")
    try feeds("forget", "all_day", "--yes").expect(75, "cannot forget feed \"all_day\": a worker")
    #expect(try database.count("quake.feed") == 1)
    try end(worker)
    #expect(try status().errors.contains("quake-admin feeds forget"))
    try feeds("forget", "all_day").expect(64, "--yes is needed")
    try feeds("forget", "all_day", "--yes").expect(0)
    #expect(try database.count("quake.feed") == 0)
    #expect(try database.count("quake.import") == 1)
    #expect(try database.count("quake.quake") == 3)
    #expect(try status().status == 0)
    try end(try self.worker(server, "1h"))
  }

  /// A worker needs the row of a feed to take its lock.
  @Test func aStandbyTakesOverAFeedThatWasForgotten() throws {
    let server = try server()
    let holder = try database.connect()
    try database.psql("insert into quake.feed (name, url) values ('all_day', 'http://127.0.0.1/')")
    try holder.execute("select * from quake.feed_lock__take('{all_day}')")
    let worker = try database.start("quake-ingest", ["run", "--feed", "\(server.url)@1h"])
    try worker.waitForError("standing by for all_day")
    try database.psql("delete from quake.feed")
    try worker.waitForError("all_day: 3 seen")
    try end(worker)
  }

  @Test func listAndShowTellTheState() throws {
    #expect(try feeds("list", "--json").lines == [])
    let server = try server()
    let worker = try worker(server, "1h")
    let list = try feeds("list")
    #expect(list.lines.count == 4 && list.output.contains("polled by "), "\(list.output)")
    #expect(list.lines.allSatisfy { $0.count <= 80 }, "\(list.output)")
    try feeds("show", "all_day").expect(
      0, printing: "address", "\"one\"", "last success", "interval", "next poll")
    let object = try JSONLine(try #require(try feeds("show", "all_day", "--json").lines.first))
    #expect(object.string("etag") == "\"one\"")
    #expect(object.string("url") == server.url)
    #expect(object.isNull("paused_at") && object.isNull("ended_at"))
    try feeds("show", "all_dya").expect(64, "Did you mean \"all_day\"?")
    #expect(try feeds("pause", "all_day", "nothing").status == 64)
    #expect(try JSONLine(try feeds("list", "--json").lines[0]).isNull("paused_at"))
    try end(worker)
  }

  @Test func afterASinglePollNoWorkerIsMissing() throws {
    let server = try server()
    try database.succeed("quake-ingest", ["run", "--once", "--feed", server.url])
    try status().expect(0, errors: "")
    #expect(try feeds("list").output.contains("polled once, until "))
    // Also much later, unless somebody asks for a limit.
    try database.psql("update quake.feed set succeeded_at = now() - interval '1 day'")
    #expect(try status().status == 0)
    #expect(try status("--max-lag", "1h").status == 1)
    // A worker that was to run until stopped is missed.
    let worker = try database.start("quake-ingest", ["run", "--feed", "\(server.url)@1h"])
    try worker.waitForError("polling all_day")
    try end(worker)
    #expect(try status().errors.contains("no worker polls feed all_day"))
  }

  @Test func allQuarantinedSnapshotsAreDiscarded() throws {
    let server = try ScriptedServer { request, client in
      client.answer(200, [], Array(#"{"type":"FeatureCollection","x":\#(request.number),"f"#.utf8))
    }
    for _ in 0..<2 {
      _ = try database.run("quake-ingest", ["run", "--once", "--feed", server.url])
    }
    let pending = try database.value("select count(*) from quake.import where decision is null")
    #expect(Int(pending) ?? 0 >= 1)
    func discard(_ more: String...) throws -> ToolProcess.Outcome {
      try database.run("quake-admin", ["imports", "discard"] + more)
    }
    #expect(try discard("--all").status == 64)
    #expect(try discard("--all", "--yes", "1").status == 64)
    try discard("--all", "--yes").expect(0, "discarded \(pending) snapshot")
    #expect(try database.count("quake.import_body") == 0)
    #expect(try database.value("select count(*) from quake.import where decision is null") == "0")
    #expect(try discard("--all", "--yes").errors.contains("no snapshot is in quarantine"))
  }
}
