import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-admin status`: its output and its exit status.
@Suite final class StatusTests: ToolSuite {
  private func status(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-admin", ["status"] + arguments)
  }

  private func json(_ arguments: String...) throws -> JSONLine {
    let outcome = try database.run("quake-admin", ["status", "--json", "-q"] + arguments)
    try #require(outcome.lines.count == 1, "\(outcome.errors)")
    return try JSONLine(outcome.lines[0])
  }

  /// A feed whose last success was `secondsAgo` seconds ago, polled every minute.
  private func addFeed(_ name: String, secondsAgo: Int?, failures: Int = 0) throws {
    let age = secondsAgo.map { "now() - interval '\($0) s'" } ?? "null"
    try database.psql(
      """
      insert into quake.feed (name, url, every, polled_at, succeeded_at, next_due, failures, error)
      values ($name$\(name)$name$, 'https://example.org/\(name.count)', '1 min', now(), \(age),
              now() + interval '30 s', \(failures),
              case when \(failures) > 0 then 'HTTP status' || chr(10) || chr(27) || '503' end);
      """)
  }

  /// Holds the locks of feeds, as a worker does that polls them.
  private func hold(_ names: String...) throws -> Connection {
    let connection = try database.connect(applicationName: "a worker")
    for name in names {
      try connection.execute(
        "select pg_advisory_lock(1903518059, quake.feed_lock_key($1))", [.text(name)])
    }
    return connection
  }

  private func importSome() throws {
    let file = try folder.write("a.geojson", Feeds.collection(count: 3))
    try database.succeed("quake-ingest", ["import", file])
  }

  // MARK: Output

  @Test func healthyFeedsAreNoProblem() throws {
    try importSome()
    try addFeed("all_hour", secondsAgo: 20)
    try database.psql("update quake.feed set next_due = now() + interval '150 min'")
    let worker = try hold("all_hour")
    let outcome = try status().expect(
      0, printing: "PostgreSQL ", "embedded            no", "up to date", "3 seen, 3 inserted",
      "a worker, session \(worker.serverProcessID)", "in 2h ", "largest tables      ", errors: "")
    #expect(!outcome.output.contains("association_pin"))
    #expect(try status("--verbose").output.contains("association_pin"))
    #expect(try status("--quiet").output.isEmpty)
    let object = try json()
    #expect(object.text.contains("\"ok\":true,\"problems\":[]"))
    #expect(
      object.keys == [
        "time", "ok", "problems", "database", "schema", "region", "feeds", "import", "token",
        "token_at", "token_age_seconds", "quarantined", "simulated_events", "watchers",
        "consumers",
        "notification_queue_usage",
        "notification_queue", "bytes", "tables", "growth_since", "growth",
      ])
    #expect(object.string("token")?.hasPrefix("1.") == true)
    #expect(object.text.contains("\"held\":true,\"holder_pid\":\(worker.serverProcessID)"))
    #expect(try #require(object.integer("bytes")) > 1_000_000)
  }

  // MARK: For monitoring

  @Test func feedsThatAreLateOrUnattendedAreReported() throws {
    try addFeed("late", secondsAgo: 200, failures: 7)
    try addFeed("never", secondsAgo: nil)
    try addFeed("unattended", secondsAgo: 20)
    let worker = try hold("late", "never")
    let outcome = try status().expect(1)
    #expect(
      outcome.errors.components(separatedBy: "warning: ").dropFirst().map {
        // The seconds go on.
        $0.components(separatedBy: "\n")[0].replacing(/for [3-9]m \d\ds/, with: "for minutes")
      } == [
        "feed late has not been polled successfully for minutes (7 failures in a row)",
        "feed never has never been polled successfully", "no worker polls feed unattended",
      ])
    #expect(outcome.errors.contains("  hint: The limit is 3m 00s"))
    #expect(try status("--feed", "late", "--max-lag", "1h").status == 0)
    #expect(try status("--feed", "unattended", "--max-lag", "1h").status == 1)
    try status("--feed", "none").expect(1, "feed none was never polled")
    #expect(try json("--feed", "late").text.contains("\"problems\":[\"feed late has not"))
    // The worker's session ends some time after it was told to, and its lock is released.
    try database.psql("select pg_terminate_backend(\(worker.serverProcessID));")
    try eventually("no worker polls the feed") {
      try status("--feed", "late", "--max-lag", "1h").errors.contains("no worker polls feed late")
    }
  }

  @Test func aPauseThatTheServerAskedForIsNoDelay() throws {
    try addFeed("fresh", secondsAgo: 600)
    let worker = try hold("fresh")
    #expect(try status().status == 0)
    #expect(try status("--max-lag", "5m").errors.contains("feed fresh has not been polled"))
    try database.psql("update quake.feed set next_due = now() - interval '130 s'")
    #expect(try status().errors.contains("feed fresh has not been polled successfully for 10m"))
    try database.psql("update quake.feed set failures = 1, next_due = now() + interval '30 s'")
    #expect(try status().errors.contains("(1 failure in a row)"))
    withExtendedLifetime(worker) {}
  }

  @Test func aFeedWhoseNextPollIsFarAwayIsReported() throws {
    try addFeed("all_hour", secondsAgo: 20)
    try addFeed("once", secondsAgo: 20)
    try database.psql(
      """
      update quake.feed set next_due = now() + interval '20 hours';
      update quake.feed set ended_at = now() where name = 'once';
      """)
    let worker = try hold("all_hour")
    let outcome = try status().expect(
      1, "feed all_hour is not polled again for 19h 5", "\"quake-admin refresh all_hour\"")
    #expect(!outcome.errors.contains("feed once"))
    #expect(worker.serverProcessID > 0)
  }

  @Test func whatWasDoneToTheSchemaIsAProblemAndAnIndexOfOnesOwnIsNone() throws {
    try database.psql("create index own on quake.quake (magnitude)")
    #expect(try status().status == 0)
    try database.psql(
      """
      alter table quake.quake disable trigger quake_20_record_insert;
      grant create on schema quake to public;
      """)
    try status().expect(
      1, "the schema was changed in 2 places",
      "trigger quake_20_record_insert of table quake.quake has state disabled instead of enabled",
      "PUBLIC has CREATE on schema quake", "\"quake-admin roles check\"")
    #expect(try json().text.contains("\"problems\":[\"the schema was changed in 2 places\"]"))
  }

  @Test func problemsComeFirstAndNoLineIsWiderThanATerminal() throws {
    try importSome()
    try addFeed("late", secondsAgo: 200, failures: 7)
    try addFeed("a_feed_with_a_rather_long_name_as_some_have", secondsAgo: nil, failures: 12)
    try addFeed("paused", secondsAgo: 2_000_000)
    try database.psql(
      """
      update quake.feed set paused_at = '2026-01-31T12:00:00Z', paused_by = 'ann' where name = 'paused';
      update quake.feed set error = repeat('the server answered with status 503, ', 8)
       where name = 'late';
      insert into quake.watcher (name, holder, token, nonce, changes)
      values ('a_watcher_with_a_rather_long_name_as_some_have', 'x', 0, null, 0);
      """)
    let outcome = try status().expect(1)
    #expect(outcome.lines.first?.hasPrefix("4 problems; ") == true, "\(outcome.output)")
    #expect(outcome.lines.dropFirst().first?.hasPrefix("  ") == true)
    // The address of the database is one word.
    let wide = outcome.lines.filter { $0.count > 80 && !$0.hasPrefix("database") }
    #expect(wide.isEmpty, "\(outcome.output)")
    #expect(outcome.output.contains("  paused by ann since 2026-01-31T12:00:00Z\n"))
    #expect(!outcome.errors.contains("feed paused"))
    #expect(try json().text.contains(#""paused_at":"2026-01-31T12:00:00.000Z","paused_by":"ann""#))
    let metrics = try PrometheusText(status("--prometheus").output)
    #expect(metrics.value("quake_feed_paused", ["feed": "paused"]) == 1)
    #expect(metrics.value("quake_feed_paused", ["feed": "late"]) == 0)
  }

  @Test func watchersThatLagAreReported() throws {
    try importSome()
    try database.psql(
      """
      insert into quake.watcher (name, holder, token, nonce, changes)
      values ('slow', 'x', 0, null, 0);
      """)
    #expect(try status("--max-watcher-lag", "1d").status == 0)
    let outcome = try status("--max-watcher-lag", "0s")
    #expect(outcome.errors.contains("watcher slow is "), "\(outcome.errors)")
    #expect(outcome.errors.contains(" and 1 transaction behind"))
    #expect(try json().text.contains("\"watchers\":[{\"name\":\"slow\",\"token\":\"0\""))
    let metrics = try PrometheusText(status("--prometheus").output)
    #expect(metrics.value("quake_watcher_behind_transactions", ["watcher": "slow"]) == 1)
  }

  @Test func anUnavailableDatabaseIsStatus69() throws {
    let file = folder.path + "/quake.prom"
    for address in ["host=/nonexistent", "host=127.0.0.1 port=1"] {
      try Tools.run("quake-admin", ["status", "-d", address, "--prometheus", "--output", file])
        .expectFailure(69, "error: could not connect")
      let metrics = try PrometheusText(contents(of: file))
      #expect(metrics.families.count == 2 && metrics.value("quake_up") == 0)
    }
    // The command neither creates nor starts a server.
    let home = folder.path + "/server"
    try Tools.run("quake-admin", ["status"], environment: ["QUAKE_SERVER_HOME": home]).expect(
      69, "no database here yet")
    #expect(!FileManager.default.fileExists(atPath: home))
  }

  @Test func aSchemaThatDoesNotFitIsStatus78() throws {
    let empty = try TestDatabase.empty()
    try empty.run("quake-admin", ["status"]).expect(
      78, "lacks migrations: 1 (events)", printing: "version 0, lacks 1 (events), 2 (")
    #expect(try empty.value("select to_regnamespace('quake') is null") == "t")

    let newest = try database.count("quake.migration")
    try database.psql(
      "update quake.migration set version = 99, oldest_schema = null where version = \(newest);")
    let newer = try status("--prometheus").expect(78, "newer than this program")
    #expect(try PrometheusText(newer.output).value("quake_up") == 1)
    try database.psql("delete from quake.migration where version = 99;")
    let older = try status("--json").expect(78, printing: "\"ok\":false")
    #expect(
      older.output.contains("\"schema\":{\"version\":\(newest - 1),\"pending\":[\"\(newest) ("))
    let metrics = try PrometheusText(status("--prometheus").output)
    #expect(metrics.value("quake_schema_pending_migrations") == 1)
    #expect(metrics.value("quake_schema_version") == Double(newest - 1))
  }

  // MARK: Prometheus

  @Test func metricsAreInPrometheusFormat() throws {
    try importSome()
    try addFeed("all_hour", secondsAgo: 20, failures: 2)
    try addFeed("never", secondsAgo: nil)
    let worker = try hold("all_hour")
    func lag() throws -> Double {
      let value = try database.value(
        "select extract(epoch from clock_timestamp() - succeeded_at) from quake.feed where name = 'all_hour'"
      )
      return try #require(Double(value))
    }
    let before = try lag()
    let outcome = try status("--prometheus", "--quiet")
    let after = try lag()
    #expect(outcome.status == 1 && worker.serverProcessID > 0)
    let metrics = try PrometheusText(outcome.output)
    let feed = ["feed": "all_hour"]
    for (name, value) in [
      ("quake_feed_held", 1.0), ("quake_feed_consecutive_failures", 2),
      ("quake_feed_interval_seconds", 60),
    ] {
      #expect(metrics.value(name, feed) == value, "\(name)")
    }
    let succeeded = try #require(metrics.value("quake_feed_last_success_timestamp_seconds", feed))
    let stored = try #require(
      Double(
        try database.value(
          "select extract(epoch from succeeded_at) from quake.feed where name = 'all_hour'")))
    #expect(abs(succeeded - stored) < 0.01)
    let shown = try #require(metrics.value("quake_feed_lag_seconds", feed))
    #expect((before - 0.01...after + 0.01).contains(shown), "\(before), \(shown), \(after)")
    // Unknown figures have no sample.
    #expect(metrics.value("quake_feed_lag_seconds", ["feed": "never"]) == nil)
    #expect(metrics.value("quake_feed_held", ["feed": "never"]) == 0)
    #expect(metrics.value("quake_problems") == 2)
    #expect(metrics.value("quake_last_import_records", ["outcome": "inserted"]) == 3)
    #expect(try #require(metrics.value("quake_table_size_bytes", ["table": "quake"])) > 0)
    #expect(
      metrics.families["quake_database_info"]?.samples.first?.labels["embedded"] == "false")
  }
}
