import Foundation
import TestSupport
import Testing

/// When `quake-ingest run` polls, also after a restart.
@Suite final class ScheduleTests: ToolSuite {
  private func run(_ arguments: [String], environment: [String: String] = [:]) throws
    -> ToolProcess
  {
    try database.start("quake-ingest", ["run"] + arguments, environment: environment)
  }

  /// Ends a worker, and waits until the server has ended its session, which has the locks of its feeds.
  private func end(_ run: ToolProcess) throws {
    try run.end()
    try database.waitForNone("quake-ingest")
  }

  /// Has the worker poll at once, whatever the schedule.
  private func refresh() throws -> ToolProcess.Outcome {
    try database.run("quake-admin", ["refresh"])
  }

  @Test func withoutNamesThreeFeedsArePolledEachAtItsInterval() throws {
    // No request leaves the machine: a proxy that refuses all of them answers for USGS.
    let proxy = try ScriptedServer(503, body: [])
    try run(
      ["--once", "--timeout", "60s"], environment: ["https_proxy": "http://127.0.0.1:\(proxy.port)"]
    ).exit().expect(69)
    #expect(
      try database.column(
        "select concat_ws(' ', name, every, failures) from quake.feed order by every") == [
          "all_hour 00:01:00 1", "all_day 00:05:00 1", "all_month 01:00:00 1",
        ])
    #expect(proxy.requests.map(\.target) == Array(repeating: "earthquake.usgs.gov:443", count: 3))
  }

  @Test func eachFeedHasItsOwnInterval() throws {
    let body = Array(Feeds.collection(count: 3).utf8)
    let server = try ScriptedServer { _, client in client.answer(200, [], body) }
    let often = server.url
    let seldom = often.replacingOccurrences(of: "all_day", with: "seldom")
    let file = try folder.write("file.geojson", body)
    let run = try run([
      "--feed", "\(often)@50ms", "--feed", "\(seldom)@1h", "--feed", file, "--every", "70ms",
    ])
    try run.waitForError("all_day: 3 seen", count: 5)
    try run.waitForError("file.geojson: 3 seen", count: 3)
    try end(run)
    #expect(server.requests.filter { $0.target.contains("seldom") }.count == 1)
    #expect(
      try database.column("select concat_ws(' ', name, every) from quake.feed order by name") == [
        "all_day 00:00:00.05", "file.geojson 00:00:00.07", "seldom 01:00:00",
      ])
  }

  /// The password looks like an interval.
  @Test func anAddressWithAPasswordStaysWhole() throws {
    let body = Array(Feeds.collection(count: 3).utf8)
    let server = try ScriptedServer { _, client in client.answer(200, [], body) }
    let url = server.url.replacingOccurrences(of: "http://", with: "http://ann:5m@")
    for (feed, every) in [("\(url)@2h", "02:00:00"), (url, "00:01:00")] {
      #expect(try run(["--once", "--feed", feed]).exit().status == 0)
      #expect(server.requests.last?.headers["authorization"] == "Basic YW5uOjVt")
      #expect(try database.value("select every from quake.feed") == every)
    }
    #expect(try database.value("select url from quake.feed").contains("ann") == false)
  }

  @Test func aRestartDoesNotPollBeforeItIsDue() throws {
    let body = Array(Feeds.collection(count: 3).utf8)
    let server = try ScriptedServer { _, client in client.answer(200, ["ETag: \"v1\""], body) }
    let arguments = ["--feed", "\(server.url)@1h", "--refresh-interval", "0s"]
    let first = try run(arguments)
    try first.waitForError("3 inserted")
    try end(first)
    let due = try database.value("select next_due from quake.feed")
    #expect(
      try database.value(
        "select next_due - polled_at between interval '1 hour' and interval '61 minutes' from quake.feed"
      ) == "t")
    let second = try run(arguments)
    try second.waitForError("polling all_day")
    // It has looked for refresh requests, so it could have polled.
    try database.waitForIdle("quake-ingest", after: "refresh_request")
    #expect(try database.value("select next_due from quake.feed") == due)
    #expect(server.requests.count == 1)
    #expect(try refresh().status == 0)
    #expect(server.requests.count == 2)
    #expect(server.requests.last?.headers["if-none-match"] == "\"v1\"")
    try end(second)
    // A worker with a shorter interval does not wait for the earlier due time.
    let third = try run(["--feed", "\(server.url)@50ms"])
    try eventually("a third request") { server.requests.count >= 3 }
    try end(third)
  }

  @Test func aRestartKeepsTheNumberOfFailures() throws {
    // The server answers as often as the test allows; it leaves later requests without an answer.
    let (allowed, answered) = (Tally(), Tally())
    let server = try ScriptedServer { _, client in
      guard answered.total < allowed.total else { return client.hold() }
      answered.add(1)
      client.answer(500, [], "")
    }
    allowed.add(3)
    let arguments = ["--feed", "\(server.url)@50ms"]
    let first = try run(arguments)
    try eventually("three failures") {
      try database.value("select coalesce(max(failures), 0) >= 3 from quake.feed") == "t"
    }
    try end(first)
    #expect(try database.value("select failures from quake.feed") == "3")
    allowed.add(1)
    let second = try run(arguments)
    try eventually("one more failure") {
      try database.value("select failures > 3 from quake.feed") == "t"
    }
    try end(second)
    #expect(try database.value("select failures from quake.feed") == "4")
    // 50 ms, doubled for each failure before, and three quarters of it at least.
    #expect(
      try database.value(
        """
        select next_due - polled_at >= interval '50 ms' * 2 ^ (failures - 1) * 0.75 from quake.feed
        """) == "t")
  }

  @Test func retryAfterHoldsOverARestartAndForRequests() throws {
    let server = try ScriptedServer(503, ["Retry-After: 1000"], body: [])
    let arguments = ["--feed", "\(server.url)@50ms", "--refresh-interval", "0s"]
    let first = try run(arguments)
    try first.waitForError("Next attempt in 16m")
    try end(first)
    let second = try run(arguments)
    try second.waitForError("polling all_day")
    try refresh().expect(69, "accepts no request (Retry-After) for another 16m")
    try end(second)
    #expect(server.requests.count == 1)
    #expect(
      try database.value(
        "select failures = 1 and retry_after between now() and now() + interval '1000 seconds' from quake.feed"
      ) == "t")
  }
}
