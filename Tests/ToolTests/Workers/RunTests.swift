import Foundation
import Postgres
import QuakeModel
import QuakeSimulator
import Synchronization
import TestSupport
import Testing

/// `quake-ingest run` with good feeds and with faulty ones.
@Suite final class RunTests: ToolSuite {
  private func run(_ arguments: [String]) throws -> ToolProcess {
    try database.start("quake-ingest", ["run"] + arguments)
  }

  // MARK: The simulator

  /// A clock that the test advances.
  private final class HandClock: Sendable {
    private let time = Mutex(Int64(Date().timeIntervalSince1970 * 1_000_000))

    var now: Timestamp { time.withLock { Timestamp(microseconds: $0) } }
    func advance(seconds: Int64) { time.withLock { $0 += seconds * 1_000_000 } }
  }

  /// A part of the warning for each fault. Other faults look like a good feed.
  private static let words: [FaultKind: String] = [
    .empty: "is empty", .truncated: "truncated", .short: "truncated", .html: "HTML page",
    .unavailable: "HTTP status 503",
  ]

  /// The quarantine reason for each fault. Other faults put nothing in quarantine.
  private static let reasons: [FaultKind: String] = [
    .empty: "empty", .truncated: "truncated", .short: "truncated",
    .html: "damaged", .stale: "stale", .garbageTimes: "implausible times", .half: "mass loss",
  ]

  /// One of each kind of answer: a warning, a warning and a quarantine, a quarantine; in `make soak` all.
  @Test(arguments: Tools.isSoak ? FaultKind.allCases : [.unavailable, .truncated, .half])
  func everyFaultIsSurvived(_ fault: FaultKind) throws {
    let clock = HandClock()
    var options = SimulatorOptions()
    options.events = 300
    options.rate = 60
    options.maxAge = 0
    options.now = { clock.now }
    options.faults = [ScheduledFault(fault, every: 2)]
    let server = try SimulatedFeedServer(options)
    let feed = try #require(SummaryFeed(name: "all_month"))
    let run = try run(
      ["--every", "50ms", "--timeout", "2s", "--verbose", "--feed", server.url(of: feed)])
    for round in 1...2 {
      clock.advance(seconds: 60)
      // A faulty body may be the newest one until the catalogue changes.
      var advanced = ContinuousClock.now
      try eventually("the store has the simulator's catalogue, round \(round)") {
        if ContinuousClock.now - advanced > .seconds(1) {
          clock.advance(seconds: 10)
          advanced = .now
        }
        return try faultyAnswers(of: server) >= round && missing(from: server).isEmpty
      }
    }
    if let words = Self.words[fault] {
      try run.waitForError("warning: could not import all_month: ")
      try run.waitForError(words)
    }
    // The bodies of quarantined snapshots are stored, with their reasons.
    #expect(
      try database.column(
        "select distinct quarantine_reason from quake.import where quarantined_at is not null")
        == (Self.reasons[fault].map { [$0] } ?? []))
    run.signal(SIGTERM)
    let outcome = try run.exit().expect(0, output: "")
    #expect(outcome.errors.hasSuffix("quake-ingest: stopped\n"), "\(outcome.errors.suffix(300))")
    #expect(try database.value("select bool_and(complete) from quake.import") == "t")
    #expect(try database.count("quake.change_pending") == 0)
  }

  private func faultyAnswers(of server: SimulatedFeedServer) throws -> Int {
    let state = try JSONLine(
      String(decoding: HTTP.get("/state", port: server.port), as: UTF8.self))
    return try #require(state.integer("faultyAnswers"))
  }

  /// Events of the catalogue, well within the feed's window, that the store lacks or has with other
  /// values.
  private func missing(from server: SimulatedFeedServer) throws -> [String] {
    let root =
      try JSONSerialization.jsonObject(
        with: Data(HTTP.get("/catalogue.geojson", port: server.port))) as? [String: Any]
    let metadata = try #require(root?["metadata"] as? [String: Any])
    let generated = try #require((metadata["generated"] as? NSNumber)?.int64Value)
    let stored = Set(
      try database.column(
        """
        select concat_ws('/', code, (extract(epoch from time) * 1000)::bigint, magnitude)
          from quake.quake
        """))
    return (root?["features"] as? [[String: Any]] ?? []).compactMap { feature in
      guard let id = feature["id"] as? String,
        let properties = feature["properties"] as? [String: Any],
        let time = (properties["time"] as? NSNumber)?.int64Value,
        time > generated - 29 * 86_400_000
      else { return nil }
      var parts = [id, "\(time)"]
      if let magnitude = properties["mag"] as? NSNumber { parts.append("\(magnitude)") }
      let text = parts.joined(separator: "/")
      return stored.contains(text) ? nil : text
    }
  }

  @Test func simulatedNeedsNoServer() throws {
    let run = try run(["--feed", "simulated", "--every", "200ms"])
    try run.waitForError("simulated: 2,", count: 1)
    try run.waitForError(" updated, ", count: 2)
    try run.end(by: SIGINT)
    #expect(try database.count("quake.quake") >= 2000)
    // The next run continues the same catalogue.
    let changed = try database.count("quake.quake_version where op = 'update'")
    let next = try self.run(["--feed", "simulated", "--once"])
    #expect(try next.exit().ending == .exited(0))
    let known = try database.count("quake.quake_version where op = 'update'")
    #expect(known - changed < 200)
    #expect(try database.value("select name from quake.feed") == "simulated")
  }

  @Test func itMigratesUnlessToldOtherwise() throws {
    let empty = try TestDatabase.empty()
    let file = try folder.write("a.geojson", Feeds.collection(count: 3))
    let arguments = ["run", "--once", "--feed", file] + empty.option
    try Tools.run("quake-ingest", arguments + ["--no-migrate"]).expect(78)
    #expect(try empty.value("select count(*) from pg_namespace where nspname = 'quake'") == "0")
    let taken = try Tools.succeed("quake-ingest", arguments)
    #expect(taken.errors.contains("applied migration 1 (events)"))
    #expect(try empty.count("quake.quake") == 3)
  }

  // MARK: HTTP

  @Test func anUnchangedFeedIsRequestedWithItsETagAndNotImported() throws {
    let body = Array(Feeds.collection(count: 3).utf8)
    let date = "Tue, 14 Nov 2023 22:15:00 GMT"
    let server = try ScriptedServer { request, client in
      if request.headers["if-none-match"] == "\"v1\"" {
        // This answer does not repeat the ETag: the stored one stays valid.
        client.answer(304, [], [])
      } else {
        client.answer(200, ["ETag: \"v1\"", "Last-Modified: \(date)"], body)
      }
    }
    let run = try run(["--feed", server.url, "--every", "50ms", "--verbose"])
    try run.waitForError("all_day: not modified", count: 3)
    try run.end()
    let requests = server.requests
    #expect(requests.count >= 4)
    #expect(requests[0].headers["if-none-match"] == nil)
    for request in requests.dropFirst() {
      #expect(request.headers["if-none-match"] == "\"v1\"")
      #expect(request.headers["accept-encoding"] == "gzip")
    }
    #expect(requests[1].headers["if-modified-since"] == date)
    #expect(try database.count("quake.import") == 1)
    #expect(
      try database.value("select etag || last_modified || failures from quake.feed")
        == "\"v1\"\(date)0")
    // The next run sends the ETag, too.
    let again = try self.run(["--feed", server.url, "--once"])
    #expect(try again.exit().status == 0)
    #expect(server.requests.last?.headers["if-none-match"] == "\"v1\"")
  }

  @Test(arguments: ["Cache-Control: public, max-age=1", "Retry-After: 1"])
  func aPauseThatTheServerAsksForIsObserved(_ header: String) throws {
    let body = Array(Feeds.collection(count: 3).utf8)
    let status = header.hasPrefix("Retry") ? 503 : 200
    let server = try ScriptedServer { _, client in client.answer(status, [header], body) }
    let run = try run(["--feed", server.url, "--every", "10ms"])
    try eventually("three requests") { server.requests.count >= 3 }
    try run.end()
    let arrivals = server.requests.map(\.arrived)
    for (earlier, later) in zip(arrivals, arrivals.dropFirst()) {
      #expect(later - earlier >= .milliseconds(950))
    }
    if status == 503 {
      #expect(
        try database.value(
          "select failures >= 2 and error like 'could not fetch%503%' from quake.feed") == "t")
    }
  }

  /// Failures in a row double the pause; a success ends that.
  @Test func afterFailuresTheWorkerBacksOff() throws {
    let body = Array(Feeds.collection(count: 3).utf8)
    let server = try ScriptedServer { request, client in
      if request.number < 5 { client.answer(500, [], "") } else { client.answer(200, [], body) }
    }
    let run = try run(["--feed", server.url, "--every", "40ms"])
    try eventually("seven requests") { server.requests.count >= 7 }
    try run.end()
    let arrivals = server.requests.map(\.arrived)
    // 40, 80, 160, 320, 640 ms, each three quarters of that at least.
    for index in 0..<5 {
      #expect(arrivals[index + 1] - arrivals[index] >= .milliseconds(30 * (1 << index)))
    }
    #expect(try database.value("select failures from quake.feed") == "0")
    #expect(try database.count("quake.quake") == 3)
  }

  // MARK: The end

  @Test func onceEndsWithTheStatusOfTheFirstThatFailed() throws {
    let good = try folder.write("good.geojson", Feeds.collection(count: 3))
    let bad = try folder.write("bad.geojson", "<html>")
    let server = try ScriptedServer(503, body: [])
    for (feeds, status) in [
      ([good], 0), ([bad], 65), ([server.url], 69), ([good, server.url, bad], 69),
      ([bad, server.url], 65), (["all_fortnight"], 64),
    ] as [([String], Int32)] {
      try run(["--once"] + feeds.flatMap { ["--feed", $0] }).exit().expect(status, with: feeds)
    }
    #expect(try database.count("quake.quake") == 3)
    let dry = try TestDatabase()
    try dry.run("quake-ingest", ["run", "--once", "--dry-run", "--feed", good]).expect(
      0, "3 inserted")
    #expect(try dry.count("quake.quake") + dry.count("quake.import") == 0)
  }

  /// Blocks imports until the connection's transaction ends.
  private func holdImports() throws -> Connection {
    let holder = try database.connect(applicationName: "holder")
    try holder.begin()
    try holder.execute("lock table quake.quake in exclusive mode")
    return holder
  }

  @Test func sigtermFinishesTheImportInProgress() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 2000).utf8))
    let holder = try holdImports()
    let run = try run(["--feed", server.url])
    try database.waitForLock(of: "quake-ingest")
    run.signal(SIGTERM)
    try run.waitForSignals()
    try holder.rollback()
    try run.exit().expect(0, "2,000 inserted")
    #expect(try database.count("quake.quake") == 2000)
  }

  @Test func sigtermEndsADownloadAndASecondSigtermTheProcess() throws {
    let asked = Flag()
    let body = Array(Feeds.collection(count: 500).utf8)
    let server = try ScriptedServer { request, client in
      switch request.number {
      case 0: asked.raise()
      case 1:
        client.answer(200, [], Array(body.dropLast(2)), announced: 2 * body.count)
        asked.raise()
      default: client.answer(200, [], body)
      }
      client.hold()
    }
    // Neither a missing answer nor an unfinished body delays its end.
    for _ in 1...2 {
      let waiting = try run(["--feed", server.url])
      try asked.wait()
      let outcome = try waiting.end()
      #expect(!outcome.errors.contains("warning"), "\(outcome.errors)")
    }
    let holder = try holdImports()
    let importing = try run(["--feed", server.url])
    try database.waitForLock(of: "quake-ingest")
    importing.signal(SIGTERM)
    // The import is in progress, so the first signal does not end it.
    try importing.waitForSignals()
    importing.signal(SIGTERM)
    #expect(try importing.exit().ending == .exited(128 + SIGTERM))
    try holder.rollback()
    #expect(try database.count("quake.import") == 0)
  }
}

extension ToolProcess {
  /// Waits until its pending signals have been delivered.
  fileprivate func waitForSignals() throws {
    try eventually("the signal has been delivered") {
      let status = try contents(of: "/proc/\(pid)/status")
      return ["SigPnd", "ShdPnd"].allSatisfy { status.contains("\($0):\t0000000000000000\n") }
    }
  }
}
