import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-ingest backfill` against the simulator's event service.
@Suite final class BackfillTests: ToolSuite {
  private static func time(daysAgo days: Double) -> String {
    Date(timeIntervalSinceNow: -days * 86_400).formatted(.iso8601)
  }

  private func arguments(_ service: SimulatedService, days: Double, _ more: [String]) -> [String] {
    let usual = [
      ("--url", service.base), ("--from", Self.time(daysAgo: days)),
      ("--to", Self.time(daysAgo: 0)), ("--rate", "1000"),
    ]
    return ["backfill"] + database.option + more
      + usual.flatMap { more.contains($0.0) ? [] : [$0.0, $0.1] }
  }

  /// The number and a digest of the events, without `as_of`.
  private static func events(_ database: TestDatabase) throws -> String {
    try database.value(
      """
      select count(*) || ' ' || md5(string_agg((to_jsonb(q) - 'as_of' - 'first_stored')::text, ',' order by code))
        from quake.quake q
      """)
  }

  // MARK: - A service that fails, a process that is killed

  /// Lets each session store one window, and makes it wait at its next one while the returned session holds the
  /// lock: a process that is killed after its first window has not finished the backfill before.
  private func closeGate() throws -> Connection {
    try database.psql(
      """
      create function public.pass_gate() returns trigger language plpgsql as $$
        begin
          if current_setting('gate.passed', true) = 'yes' then
            perform pg_catalog.pg_advisory_xact_lock_shared(1);
          end if;
          perform pg_catalog.set_config('gate.passed', 'yes', false);
          return new;
        end
      $$;
      create trigger gate before update of state on quake.backfill_window
        for each row when (new.state = 'done') execute function public.pass_gate();
      """)
    let gate = try database.connect()
    try gate.run("select pg_advisory_lock(1)")
    return gate
  }

  private func openGate(_ gate: Connection) throws {
    try gate.run("select pg_advisory_unlock(1)")
  }

  /// Kills a process, and ends its session, which would notice that only after its statement.
  private func kill(_ process: ToolProcess) throws {
    process.signal(SIGKILL)
    #expect(try process.exit().ending == .killed(by: SIGKILL))
    try eventually("its session has ended") {
      try database.value(
        """
        select count(pg_terminate_backend(pid)) from pg_stat_activity
         where datname = current_database() and application_name = 'quake-ingest'
        """) == "0"
    }
  }

  @Test func killedThreeTimesItFetchesEverythingAndNothingTwice() throws {
    let service = try SimulatedService([
      "--events", "4000", "--days", "730", "--query-limit", "800", "--fault", "503:8", "--fault",
      "short:3",
    ])
    let options = arguments(service, days: 731, ["--source", "usgs", "--json"])
    let gate = try closeGate()
    for round in 1...3 {
      let run = try Tools.start("quake-ingest", options)
      if round > 1 { try run.waitForError("resuming backfill 1: ") }
      _ = try run.line()
      // It has requested the next window, and waits.
      #expect(try database.connect().waitUntilBlocked(applicationName: "quake-ingest"))
      try kill(run)
      #expect(try database.value("select finished_at is null from quake.backfill") == "t")
    }
    try openGate(gate)
    // The first answer of the last run, to a query, is cut off.
    try Tools.shell("curl -fs -X POST 'http://127.0.0.1:\(service.port)/fault?kind=short&count=1'")
      .expect(0)
    let last = try Tools.start("quake-ingest", options).exit().expect(0)
    let whole = try JSONLine(try #require(last.lines.last))
    #expect(whole.bool("complete") == true && whole.bool("resumed") == true)
    #expect(whole.string("source") == "usgs")
    let windows = try database.count("quake.backfill_window")
    #expect(whole.integer("windows") == windows && windows >= 6)

    // Exactly the service's events.
    let file = try folder.write(
      "catalogue.geojson", HTTP.get("/catalogue.geojson", port: service.port))
    let direct = try TestDatabase()
    try direct.succeed("quake-ingest", ["import", file])
    #expect(try database.count("quake.quake") == 4000)
    #expect(try Self.events(database) == Self.events(direct))
    #expect(
      try database.value("select sum(inserted) from quake.import where complete") == "4000")

    // Each window was stored once, and not requested again after that.
    #expect(try database.count("quake.import") == windows)
    let requests = try service.requests()
    #expect(try requestsAfterSuccess(requests).isEmpty)
    for fault in ["503", "short"] {
      #expect(requests.contains { $0.fault == fault }, "no \(fault)")
    }
    #expect(requests.contains { $0.fault == "short" && $0.isQuery }, "no body was cut off")
    #expect(
      try database.value("select bool_and(context = 'backfill 1') from quake.change_transaction")
        == "t")
  }

  /// Requests for events of a window after the window was stored.
  private func requestsAfterSuccess(_ requests: [SimulatedService.Request]) throws -> [String] {
    let done = try database.column(
      """
      select concat_ws(' ', to_char(start_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS'),
                       to_char(end_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS'),
                       ceil(extract(epoch from finished_at) * 1000)::bigint)
        from quake.backfill_window where state = 'done'
      """
    ).map { $0.components(separatedBy: " ") }
    return requests.filter { request in
      done.contains { window in
        request.start < window[1] && request.end > window[0] && request.time > Int(window[2]) ?? 0
      }
    }.map(\.target)
  }

  // MARK: - Another centre

  @Test func aCentreWithoutCountsThatTruncatesItsAnswers() throws {
    let service = try SimulatedService([
      "--events", "5000", "--query-limit", "700", "--no-count",
    ])
    let outcome = try Tools.succeed(
      "quake-ingest",
      arguments(service, days: 31, ["--source", "ingv", "--limit", "700", "--verbose"]))
    #expect(outcome.errors.contains("does not count"))
    #expect(outcome.errors.contains("may not be all"))
    #expect(try database.count("quake.quake") == 5000)
    // Simulated events are not of a centre, whatever the command says.
    #expect(
      try database.value(
        """
        select bool_and(source = 'simulated' and code = net || net_code and title is null)
          from quake.quake
        """) == "t")
    #expect(
      try database.value("select string_agg(distinct format, ',') from quake.import") == "fdsn-text"
    )
    #expect(try requestsAfterSuccess(service.requests()).isEmpty)
  }

  /// GeoNet is such a centre.
  @Test func aCentreThatRefusesALimit() throws {
    let service = try SimulatedService([
      "--events", "3000", "--query-limit", "700", "--no-count", "--no-limit",
    ])
    let outcome = try Tools.succeed(
      "quake-ingest", arguments(service, days: 31, ["--source", "geonet", "--verbose"]))
    #expect(outcome.errors.contains("accepts no limit"))
    #expect(outcome.errors.contains("refused, so it is halved"))
    #expect(
      try database.value("select count(*) from quake.quake where code like 'sim%'") == "3000")
  }

  @Test func theHostIsTheSourceOfAServiceThatOnlyHasText() throws {
    let text = """
      #EventID | Time | Latitude | Longitude | Depth/km | Author | Catalog | Contributor | ContributorID | MagType | Magnitude | MagAuthor | EventLocationName
      42|2020-05-01T00:00:00|10.0|20.0|5.0|||||ml|3.0||Nowhere
      """
    let server = try ScriptedServer { request, client in
      if request.target.contains("format=text") {
        client.answer(200, ["Content-Type: text/plain"], text + "\n")
      } else {
        client.answer(request.target.contains("/count?") ? 404 : 400, [], "no")
      }
    }
    try fetch(server, [], source: nil).expect(0)
    #expect(
      try database.value("select code || ' of ' || source from quake.quake")
        == "127.0.0.1:42 of 127.0.0.1")
  }

  @Test func aMirrorOfUSGSHasTheSourceUSGS() throws {
    let server = try ScriptedServer { request, client in
      if request.target.contains("/count?") { return _ = client.answer(200, [], "1") }
      let time = 1_588_291_200_000  // 2020-05-01
      client.answer(200, [], Feeds.collection([Feeds.feature("us1", time: time)]))
    }
    try fetch(server, [], source: nil).expect(0)
    #expect(try database.value("select source from quake.backfill") == "usgs")
    #expect(try database.value("select code || ' of ' || source from quake.quake") == "us1 of usgs")
  }

  // MARK: - Failures

  /// Some of these bodies are well formed, but lack events or have times outside the window.
  @Test(arguments: ["half", "garbage-times"])
  func damagedAnswersAreRequestedAgain(fault: String) throws {
    let service = try SimulatedService(["--events", "2000", "--fault", "\(fault):2"])
    let outcome = try Tools.succeed(
      "quake-ingest", arguments(service, days: 31, ["--source", "usgs", "--verbose"]))
    #expect(outcome.errors.contains("warning: could not fetch the events from "))
    #expect(try database.count("quake.quake") == 2000)
    #expect(try database.count("quake.import_reject") == 0)
  }

  /// It stops after failures in a row.
  @Test func aServiceThatReturnsFewerEventsThanItCountsIsAnError() throws {
    let service = try SimulatedService(["--events", "500", "--fault", "half"])
    try Tools.run(
      "quake-ingest", arguments(service, days: 31, ["--source", "usgs", "--attempts", "3"])
    ).expect(
      69, "after 3 failures in a row", "The service sent 250 events, but counts 500.",
      "stopped at the events from ", "Next attempt in ", "Run the same command again")
    #expect(try database.count("quake.quake") == 0)
  }

  private func fetch(
    _ server: ScriptedServer, _ more: [String] = [], source: String? = "local"
  ) throws -> ToolProcess.Outcome {
    try database.run(
      "quake-ingest",
      [
        "backfill", "--url", "http://127.0.0.1:\(server.port)", "--from", "2020-01-01",
        "--to", "2021-01-01",
      ] + more + (source.map { ["--source", $0] } ?? []))
  }

  @Test func aRefusedQueryIsNotSplitAgainAndAgain() throws {
    let server = try ScriptedServer(400, body: Array("no".utf8))
    try fetch(server, ["--rate", "1000"]).expect(69, "HTTP status 400")
    // The requests: the count, the query, one second of it, and that second without a limit.
    #expect(
      server.requests.map { $0.target.contains("limit=") } == [false, true, true, false])
    #expect(server.requests.last?.target.contains("endtime=2020-01-01T00:00:01") == true)
    #expect(try database.count("quake.backfill_window") == 1)
  }

  @Test func retryAfterAndTheRateAreObserved() throws {
    let server = try ScriptedServer { request, client in
      switch request.number {
      case 0: client.answer(429, ["Retry-After: 1"], "later")
      case 1: client.answer(200, [], "0\n")
      default: client.answer(204, [], "")
      }
    }
    try fetch(server, ["--rate", "2.5"]).expect(0)
    let times = server.requests.map(\.arrived)
    try #require(times.count == 3)
    #expect(times[1] - times[0] >= .seconds(0.99))
    // And the rate's 0.4 s, which begin when the second request is sent: it may arrive late.
    #expect(times[2] - times[0] >= .seconds(1.39))
    #expect(server.requests[2].target.contains("minmagnitude") == false)
    #expect(server.requests[2].target.hasPrefix("/query?starttime=2020-01-01T00:00:00&endtime="))
  }

  // MARK: - One process at a time

  @Test func aSecondProcessIsRefusedAndAStopIsClean() throws {
    let service = try SimulatedService(["--events", "100"])
    // At this rate, the second request is minutes away.
    let span = ["--from", Self.time(daysAgo: 31), "--to", Self.time(daysAgo: 0)]
    let slow = arguments(service, days: 31, span + ["--rate", "0.001", "--verbose"])
    let quick = arguments(service, days: 31, span)
    let first = try Tools.start("quake-ingest", slow)
    try first.waitForError("100 events")
    try Tools.run("quake-ingest", quick).expect(75, "another process is working on this backfill")
    try first.end().expect(
      0, "stopped; run the same command again to continue", printing: "is not complete")
    try database.waitForNone("quake-ingest")
    let again = try Tools.succeed("quake-ingest", quick)
    #expect(again.errors.contains("resuming backfill 1"))
    #expect(try database.count("quake.quake") == 100)
    #expect(try database.count("quake.backfill") == 1)
    // After a complete backfill the same command begins another one, which finds nothing new.
    try Tools.succeed("quake-ingest", quick)
    #expect(try database.count("quake.backfill") == 2)
    #expect(try database.count("quake.change_transaction") == 1)
  }
}
