import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-admin events`, and the worker that expires events.
@Suite final class EventsTests: ToolSuite {
  private func events(
    _ arguments: [String], input: String? = nil
  ) throws -> ToolProcess.Outcome {
    try database.run(
      "quake-admin", ["events"] + arguments,
      input: input.map { try folder.write("ids.txt", $0) } ?? "/dev/null")
  }

  private func feed(_ count: Int, _ generated: Int = 0) throws -> String {
    try folder.write(
      "feed.geojson",
      Feeds.collection(
        (1...count).map { number in
          Feeds.feature("us\(number)", magnitude: "\(number % 10).5")
        }, generated: 1_700_000_100_000 + generated * 1000))
  }

  private func load(_ count: Int, _ generated: Int = 0) throws {
    try database.succeed("quake-ingest", ["import", try feed(count, generated)])
  }

  private func all() throws -> [String] {
    try database.column("select q::text from quake.quake q order by code")
  }

  @Test func deletesValidatesAndRestores() throws {
    try load(40)
    let before = try all()
    let trial = try events(["delete", "--min-magnitude", "5", "--dry-run"]).expect(0)
    #expect(trial.lines.first == "20 events")
    #expect(trial.lines.count == 12)
    #expect(try all() == before)
    // There is no terminal to ask on.
    try events(["delete", "--min-magnitude", "5"]).expect(64, "--yes is needed")
    let deleted = try events([
      "delete", "--min-magnitude", "5", "--yes", "--json", "--author", "ann", "--context", "weak",
    ]).expect(0)
    let report = try JSONLine(#require(deleted.lines.first))
    #expect(report.integer("changed") == 20)
    #expect(report.integer("transactions") == 1)
    #expect(try database.count("quake.quake") == 20)
    #expect(
      try database.value(
        "select author || context from quake.change_transaction order by token desc limit 1")
        == "annweak")
    try load(40, 1)
    #expect(try database.count("quake.quake") == 20)
    let token = try #require(report.string("first_transaction"))
    let restored = try events(["restore", "--transaction", token, "--yes"]).expect(0)
    #expect(restored.output.hasPrefix("restored 20 events; edit 2, transaction "))
    #expect(try all() == before)

    #expect(try events(["validate", "us1", "us2", "--yes"]).output.hasPrefix("validated 2 events"))
    #expect(
      try events(["validate", "-", "--yes"], input: "us2\r\n\n us3 \nunknown").output
        .hasPrefix("validated 1 event;"))
    #expect(
      try database.column("select code from quake.quake where validated order by 1")
        == ["us1", "us2", "us3"])
    let file = try folder.write("weak.query", "# Weak ones.\nmin-magnitude = 9\ncode = us9\n")
    #expect(
      try events(["set", "type=quarry blast", "depth=", "@\(file)", "--yes"]).output
        .hasPrefix("changed 1 event;"))
    #expect(
      try database.column(
        "select code from quake.quake where type = 'quarry blast' and depth is null")
        == ["us9"])
    #expect(try events(["delete", "--every-event", "--yes"]).output.hasPrefix("deleted 40 events"))
    #expect(
      try events(["restore", "--every-event", "--yes"]).output.hasPrefix("restored 40 events"))
  }

  /// Each input with its status and a part of the message.
  private static let invalid: [(arguments: [String], status: Int32, message: String)] = [
    (["delete", "--yes"], 64, "--every-event"),
    (["delete", "--every-event", "us1", "--yes"], 64, "cannot be used"),
    (["set", "us1", "--yes"], 64, "expected COLUMN=VALUE"),
    (["set", "code=us2", "us1", "--yes"], 64, "cannot set column \"code\""),
    (["set", "magnitude=13", "us1", "--yes"], 64, "from -10 to 12"),
    (["set", "magnitude=5", "magnitude=6", "us1", "--yes"], 64, "set twice"),
    (["expire", "--yes"], 64, "--older-than is needed"),
    // Thirty seconds, or days?
    (["expire", "--older-than", "30", "--yes"], 64, "an age with its unit, such as 12h or 90d"),
    (["restore", "--transaction", "nonsense", "--yes"], 65, "malformed token"),
    (["restore", "--edit", "9", "--yes"], 65, "there is no edit 9"),
    (["validate", "us1", "--author", String(repeating: "a", count: 201), "--yes"], 64, "200"),
    (["delete", "@/nonexistent/file", "--yes"], 64, "could not read the file of conditions"),
  ]

  @Test func invalidInputOfEventsIsRefused() throws {
    try load(3)
    let before = try all()
    for (arguments, status, message) in Self.invalid {
      try events(arguments).expect(status, message, with: arguments)
      #expect(try all() == before, "\(arguments)")
    }
    // Ids of standard input, and conditions of a file.
    #expect(try events(["delete", "-", "--yes"], input: "us1\nus\u{0}2\n").status == 65)
    try events(["delete", "-", "--yes"], input: "us1\n" + String(repeating: "x", count: 300))
      .expect(65, "line 2 of the codes")
    let file = try folder.write("bad.query", "min-magnitude = 2\nyes = yes\n")
    try events(["delete", "@\(file)", "--yes"]).expect(
      64, "\(file):2: key 'yes' is not a condition")
    // Quotes and wildcards are letters like any other.
    try events([
      "delete", "%", "us_", "us1'; drop table quake.quake; --", "{us1,us2}", "\"us1\"", "--yes",
    ]).expect(0)
    #expect(try database.count("quake.quake") == 3)
  }

  @Test func valuesThatNoRowCanHaveAreRefusedBeforeAnythingIsWritten() throws {
    try load(3)
    try database.psql("insert into quake.quake (code, time) values ('n1', now()), ('n2', now())")
    let before = try all()
    for (words, status, message) in [
      (
        ["longitude=5", "n1", "us1"], 64,
        #"cannot set longitude alone: event "n1" has no latitude"#
      ),
      (
        ["latitude=5", "n1", "n2"], 64,
        #"cannot set latitude alone: 2 events have no longitude, such as "n1""#
      ),
      (["longitude=", "us2"], 64, #"cannot remove longitude alone: event "us2" has a latitude"#),
      (["superseded_by=nothere", "us1"], 65, #"there is no event "nothere""#),
      (["superseded_by=us1", "us1", "us2"], 64, #"event "us1" would supersede itself"#),
    ] {
      try events(["set"] + words + ["--yes"]).expectFailure(Int32(status), message, with: words)
    }
    #expect(try all() == before)
    #expect(try database.count("quake.edit") == 0)
    // What every selected row can have is set.
    for words in [
      ["longitude=5", "latitude=6", "n1"], ["superseded_by=us1", "us2"],
      // The first event of these has both coordinates.
      ["latitude=7", "--every-event", "--limit", "1"],
    ] { try events(["set"] + words + ["--yes"]).expect(0, with: words) }
    // Rows that supersede each other would be in no list.
    try events(["set", "superseded_by=us2", "us1", "--yes"]).expect(
      65, #"event "us2" is itself superseded by "us1""#)
  }

  @Test func idsThatNoEventHasAreNamed() throws {
    try load(3)
    try events(["delete", "nosuchid", "--yes"]).expect(
      0, #"warning: no event has the id "nosuchid""#, output: "deleted 0 events\n")
    let most = try events(["validate", "us1", "--dry-run"] + (1...7).map { "x\($0)" })
    #expect(most.lines.first == "1 event")
    #expect(
      most.errors.contains(
        #"no event has 7 of the ids: "x1", "x2", "x3", "x4", "x5" and 2 more"#), "\(most.errors)")
    #expect(try events(["delete", "us1", "--yes"]).output.hasPrefix("deleted 1 event;"))
    // An event that was deleted before is no unknown one.
    let again = try events(["delete", "us1", "--yes"])
    #expect(again.output == "deleted 0 events\n")
    #expect(again.errors.isEmpty)
  }

  @Test func aForcedRestoreTellsOfTheTombstonesThatItRemoves() throws {
    try load(3)
    #expect(try events(["delete", "us1", "us2", "--yes"]).status == 0)
    try database.psql("update quake.quake set felt = 1 where code = 'us3'")
    try database.succeed(
      "quake-admin",
      ["history", "purge", "--yes", "--before", try database.value("select quake.latest_token()")])
    try events(["restore", "us1", "--yes"]).expect(
      1, "the history of its deletion was purged, or it was never stored")
    try events(["restore", "us1", "--yes", "--force"]).expect(
      0,
      lines: [
        "restored 0 events",
        "removed 1 tombstone: the event cannot be restored, but a feed may store it again",
      ])
    #expect(try database.column("select code from quake.tombstone") == ["us2"])
    let two = try events(["restore", "us2", "unknown", "--yes", "--force", "--json"])
    let report = try JSONLine(#require(two.lines.first))
    #expect(report.integer("lost") == 2)
    #expect(report.integer("tombstones_removed") == 1)
    try load(3, 1)
    #expect(try database.count("quake.quake") == 3)
  }

  @Test func thePipeOfAListDeletesAndAKilledEditIsContinued() throws {
    let count = Tools.isSoak ? 30_000 : 15_000
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude)
      select 'e' || i, now() - i * interval '1 minute', 1 from generate_series(1, \(count)) i
      """)
    let before = try database.value(
      "select md5(string_agg(q::text, '' order by code)) from quake.quake q")
    let arguments = ["events", "expire", "--older-than", "1s", "--yes", "--json"] + database.option
    // While the test has an event locked, the edit cannot end.
    let other = try database.connect()
    try other.begin()
    try other.execute("select from quake.quake where code = 'e1' for update")
    let process = try Tools.start("quake-admin", arguments)
    try eventually("a transaction of the edit has committed") {
      try database.count("quake.edit_transaction") > 0
    }
    process.signal(SIGKILL)
    _ = try process.exit()
    try database.waitForNone("quake-admin")
    try other.rollback()
    let left = try database.count("quake.quake")
    #expect((1..<count).contains(left))
    let again = try Tools.succeed("quake-admin", arguments)
    let report = try JSONLine(#require(again.lines.first))
    #expect(report.integer("changed_before") == count - left)
    #expect(report.integer("changed") == left)
    #expect(try database.count("quake.quake") == 0)
    let id = try #require(report.integer("edit"))
    // A signal ends it after the transaction in progress.
    let restoring = try database.start(
      "quake-admin", ["events", "restore", "--edit", "\(id)", "--yes"])
    try eventually("some events are restored") { try database.count("quake.quake") > 0 }
    try restoring.end(by: SIGINT)
    try events(["restore", "--edit", "\(id)", "--yes"]).expect(0)
    #expect(
      try database.value("select md5(string_agg(q::text, '' order by code)) from quake.quake q")
        == before)
  }

  @Test func workersExpireOneAtATime() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, source)
      select 'e' || i, now() - i * interval '1 day', 'usgs' from generate_series(1, 60) i
      """)
    let scene = WorkerScene(
      database, ["--feed", try feed(3) + "@1h", "--expire", "30d"])
    // Another worker is at it, and does not report any more.
    try database.psql(
      "update quake.expiry set holder = 'other', held_until = now() + interval '3 seconds'")
    let name = try scene.start()
    try scene.worker(name).waitForError("expired 34 events older than 30d 00h (edit 1)")
    #expect(
      try database.value(
        "select min(time) > now() - interval '30 days' from quake.quake where source = 'usgs' and code like 'e%'"
      )
        == "t")
    #expect(
      try database.value("select holder is null and next_due > now() from quake.expiry") == "t")
    #expect(
      try database.column("select distinct reason || author from quake.tombstone")
        == ["expiredquake-ingest"])
    try scene.stop()
  }
}
