import Foundation
import TestSupport
import Testing

/// What a worker does so that the tables do not grow for ever.
@Suite final class HousekeepingTests: ToolSuite {
  private func poll(_ feed: String) throws {
    try database.run("quake-ingest", ["run", "--once", "--feed", feed]).expect(0)
  }

  private func counts() throws -> [String] {
    try database.column(
      "select concat_ws(' ', inserted, updated, unchanged) from quake.import order by id")
  }

  @Test func unchangedSnapshotsLeaveOneRowAFeed() throws {
    let snapshots = [3, 3, 3, 3, 4, 4, 4].enumerated().map { number, count in
      Array(Feeds.collection(count: count, generated: 1_700_000_100_000 + number * 60_000).utf8)
    }
    let server = try ScriptedServer { request, client in
      client.answer(200, [], snapshots[min(request.number, snapshots.count - 1)])
    }
    let url = server.url.replacingOccurrences(of: "all_day", with: "centre")
    for _ in 0..<4 { try poll(url) }
    #expect(try counts() == ["3 0 0", "0 0 3"])
    // The row is that of the last poll.
    let newest = try database.value("select generated from quake.import order by id desc limit 1")
    #expect(newest == "2023-11-14 22:18:00+00", "\(newest)")
    #expect(
      try database.value(
        "select last_import_id = (select max(id) from quake.import) from quake.feed") == "t")
    for _ in 0..<3 { try poll(url) }
    #expect(try counts() == ["3 0 0", "0 0 3", "1 0 3", "0 0 4"])
    try database.run("quake-admin", ["imports"]).expect(0, printing: "centre")
  }

  /// Later and earlier snapshots are judged by all snapshots that should have held an event.
  @Test func snapshotsOfFeedsWithExpectedEventsKeepTheirRows() throws {
    let server = try ScriptedServer(200, body: Array(Feeds.collection(count: 3).utf8))
    for _ in 0..<3 { try poll(server.url) }
    #expect(try counts() == ["3 0 0", "0 0 3", "0 0 3"])
  }

  /// Runs a worker until something has been done.
  private func work(
    _ arguments: [String], feed: String = Feeds.collection(count: 1),
    until isDone: (ToolProcess) throws -> Void
  ) throws {
    let file = try folder.write("a.geojson", feed)
    let worker = try database.start(
      "quake-ingest", ["run", "--feed", file, "--every", "1h"] + arguments)
    try isDone(worker)
    try worker.end()
  }

  @Test func oldImportsAndEditsAreDeletedUnlessSomethingNeedsThem() throws {
    let server = try ScriptedServer(200, body: Array(Feeds.collection(count: 3).utf8))
    try poll(server.url)
    // The history has the changes of the first, the second is in quarantine, the third is the newest of its feed.
    try database.psql(
      """
      update quake.import set started_at = now() - interval '1 year';
      insert into quake.import (source, feed, format, started_at, program, complete, quarantined_at, quarantine_reason)
      values ('s', 'bad', 'f', now() - interval '1 year', 'p', true, now(), 'empty');
      insert into quake.import (source, feed, format, started_at, program, complete)
      select 's', 'old', 'f', now() - interval '1 year', 'p', true from generate_series(1, 3);
      insert into quake.import (source, feed, format, started_at, program, complete)
      select 's', 'new', 'f', now(), 'p', true from generate_series(1, 2);
      insert into quake.edit (action, selection, program, started_at)
      values ('set', '{}', 'p', now() - interval '1 year'), ('set', '{}', 'p', now());
      """)
    try work(["--keep-imports", "30d", "--keep-edits", "30d"]) { worker in
      try worker.waitForError("deleted 2 imports older than 30d")
      try worker.waitForError("deleted 1 edit older than 30d")
    }
    #expect(
      try database.column(
        "select feed || ' ' || count(*) from quake.import group by feed order by feed") == [
          "a.geojson 1", "all_day 1", "bad 1", "new 2", "old 1",
        ])
    #expect(try database.count("quake.edit") == 1)
  }

  @Test func aWorkerNotesPastPlacesAndSizesAndDeletesOldRejects() throws {
    try database.psql(
      """
      insert into quake.quake (code, time) values ('gone', '2024-02-29T12:00:00Z');
      delete from quake.quake where code = 'gone'
      """)
    let odd = [Feeds.feature("usgood"), Feeds.feature("us1", magnitude: "99")]
    try work(["--keep-rejects", "1s"], feed: Feeds.collection(odd)) { worker in
      try worker.waitForError("deleted 1 reject older than 1")
      try eventually("the deleted event and the sizes are noted") {
        try database.count("quake.past_place") > 0 && database.count("quake.table_size") > 0
      }
    }
    #expect(
      try database.value("select code || ' ' || day from quake.past_place") == "gone 2024-02-29")
    #expect(try database.count("quake.import_reject") == 0)
    #expect(try database.value("select rejected from quake.import") == "1")
    // The status tells how the largest tables have grown.
    try database.psql("update quake.table_size set bytes = 0, at = now() - interval '2 days'")
    let outcome = try database.run("quake-admin", ["status"])
    #expect(
      outcome.output.contains(/largest tables +\w+ [0-9.]+ \w+ \(\+[0-9.]+ \w+\s+in\s+2d\s+00h\)/),
      "\(outcome.output)")
    let json = try database.run("quake-admin", ["status", "--json"])
    #expect(json.output.contains("\"growth_since\":\"20"), "\(json.output)")
  }
}
