import Foundation
import Postgres
import TestSupport
import Testing

/// Expiring many events while a worker imports a feed that still has some of them, and a watcher follows.
@Suite final class ExpireUnderLoadTests: ToolSuite {
  private let count = Tools.isSoak ? 1_000_000 : 12_000
  /// Expired events that the feed still has, and events of today.
  private let shared = 300

  /// A feed whose recent events have another magnitude in each snapshot, and which revises some of the old ones.
  private func serve() throws -> ScriptedServer {
    let shared = shared
    return try ScriptedServer { request, client in
      let now = Int(Date().timeIntervalSince1970 * 1000)
      let recent = (1...shared).map { number in
        Feeds.feature(
          "us\(number)", magnitude: "\(1 + request.number % 7).\(number % 10)",
          time: now - 3_600_000)
      }
      let old = (1...shared).map { number in
        Feeds.feature(
          "old\(number)", magnitude: "\(1 + request.number % 3).5",
          time: 1_600_000_000_000 + number * 1000)
      }
      client.answer(200, [], Feeds.collection(recent + old, generated: now))
    }
  }

  /// The longest time between two imports since `start`, in milliseconds: with all that an import waited for.
  private func longestGap(since start: String) throws -> Double {
    let value = try database.value(
      """
      select coalesce(max(gap), 0)
        from (select extract(epoch from i.finished_at - lag(i.finished_at) over (order by i.id)) * 1000 as gap
                from quake.import i where i.started_at > '\(start)') g
      """)
    return try #require(Double(value))
  }

  private func imports() throws -> Int { try database.count("quake.import") }

  private func waitForImports(_ more: Int) throws {
    let wanted = try imports() + more
    try eventually("\(more) more imports") { try imports() >= wanted }
  }

  @Test func importersDoNotWaitWatchersSeeEachDeletionOnceAndNothingComesBack() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, place, ids, source)
      select 'old' || i, '2020-09-13T12:26:40Z'::timestamptz + i * interval '1 second', i % 70 / 10.0,
             'place ' || i, ',old' || i || ',', 'usgs'
        from generate_series(1, \(count)) i;
      analyze quake.quake;
      """)
    let server = try serve()
    let worker = try database.start(
      "quake-ingest",
      ["run", "--feed", "http://127.0.0.1:\(server.port)/feed.geojson@50ms", "--quiet"])
    try waitForImports(Tools.isSoak ? 40 : 10)
    let quiet = try longestGap(since: "-infinity")
    let output = folder.path + "/deleted.json"
    let watcher = try Tools.startShell(
      """
      exec quake-watch --op delete --json --limit \(count) --database '\(database.conninfo)' > \(output)
      """)
    // Its cursor is before the first deletion.
    try watcher.waitForError("watching after ")
    let start = try database.value("select clock_timestamp()")
    // While another session has one of the events locked, the edit does not end: imports finish before it does.
    let other = try database.connect()
    try other.begin()
    try other.execute(
      "select from quake.quake where code = $1 for update", [.text("old\(count)")])
    let expire = try database.start(
      "quake-admin", ["events", "expire", "--older-than", "365d", "--yes", "--json"])
    try eventually("a transaction of the edit has committed") {
      try database.count("quake.edit_transaction") > 0
    }
    try waitForImports(3)
    #expect(!expire.hasEnded)
    try other.rollback()
    let patience = Duration.seconds(Tools.isSoak ? 900 : 180)
    let outcome = try expire.exit(within: patience).expect(0)
    let report = try JSONLine(#require(outcome.lines.first))
    #expect(report.integer("changed") == count)
    let end = try database.value("select clock_timestamp()")
    try waitForImports(3)
    if Tools.isSoak {
      let busy = try longestGap(since: start)
      print("longest time between two imports: \(quiet) ms, then \(busy) ms")
      #expect(busy <= quiet + 250, "\(busy) ms, \(quiet) ms without")
    }
    #expect(
      try Int(
        database.value(
          "select count(*) from quake.import where finished_at between '\(start)' and '\(end)'"))
        ?? 0
        >= 3)
    // None came back, not even for a moment.
    #expect(try database.value("select count(*) from quake.quake where code like 'old%'") == "0")
    #expect(
      try database.value(
        """
        select count(*) from quake.change_transaction t join quake.quake_version v using (transaction_id)
         where t.at > '\(start)' and v.code like 'old%' and v.op = 'insert'
        """) == "0")
    #expect(try watcher.exit(within: patience).status == 0)
    let seen = try Tools.shell(
      "wc -l < \(output); grep -o '\"code\":\"old[0-9]*\",\"changed\"' \(output) | sort -u | wc -l")
    #expect(seen.lines.map { $0.trimmingCharacters(in: .whitespaces) } == ["\(count)", "\(count)"])
    try worker.end()
    let edit = try #require(report.integer("edit"))
    try database.start("quake-admin", ["events", "restore", "--edit", "\(edit)", "--yes"]).exit(
      within: patience
    ).expect(0)
    // Each is as its last version before its deletion: an importer may have revised it meanwhile.
    #expect(
      try database.value(
        """
        select count(*)
          from quake.quake q
         cross join lateral (
            select v.* from quake.quake_version v
             where v.code = q.code and v.op = 'delete' order by v.id desc limit 1) v
         where q.code like 'old%'
           and to_jsonb(q) is distinct from to_jsonb(v) - array['id', 'transaction_id', 'op', 'changed']
        """) == "0")
    #expect(try database.count("quake.tombstone") == 0)
    #expect(
      try database.value("select count(*) from quake.quake where code like 'old%'") == "\(count)")
  }
}
