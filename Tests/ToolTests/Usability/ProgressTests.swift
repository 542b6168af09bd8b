import Glibc
import TestSupport
import Testing

/// What takes long shows on a terminal how far it is: percent and the time left.
@Suite(.enabled(if: access("/usr/bin/script", X_OK) == 0, "there is no script(1)"))
struct ProgressTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  /// Runs a command on a terminal.
  private func terminal(_ command: String) throws -> ToolProcess.Outcome {
    try Tools.shell(
      "script -qec \"\(command)\" /dev/null < /dev/null",
      environment: ["TERM": "xterm", "DATABASE_URL": database.conninfo])
  }

  /// Makes each statement on a table take more than half a second.
  private func slow(_ event: String, on table: String) throws {
    try database.psql(
      """
      create function public.slow() returns trigger language plpgsql
        as 'begin perform pg_catalog.pg_sleep(0.6); return null; end';
      create trigger slow after \(event) on quake.\(table) execute function public.slow();
      """)
  }

  @Test func aPurgeShowsItsProgress() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude)
        select 'e' || n, now(), 1 from generate_series(1, 6000) n;
      update quake.quake set magnitude = 2;
      """)
    try slow("delete", on: "quake_version")
    let outcome = try terminal("quake-admin history purge --before 0s --yes")
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.contains("removed 6,000 versions of events"), "\(outcome.output)")
    #expect(outcome.output.contains(/purge: \d+%, [\d,]+ of 6,000 versions/), "\(outcome.output)")
  }

  @Test func aReplayShowsItsProgress() throws {
    for minute in 10..<14 {
      _ = try folder.write(
        "all_day_2026-08-15T00\(minute)Z.geojson", Feeds.collection(count: minute))
    }
    try slow("insert", on: "quake")
    let outcome = try terminal("quake-ingest replay --force '\(folder.path)'")
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.contains("replayed 4 of 4 snapshots"), "\(outcome.output)")
    #expect(outcome.output.contains(/replay: \d+%, \d of 4 snapshots/), "\(outcome.output)")
  }
}
