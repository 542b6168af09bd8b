import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-ingest import` with valid sources.
@Suite final class ImportTests: ToolSuite {
  private func run(_ arguments: [String], input: String = "/dev/null") throws -> ToolProcess.Outcome
  {
    try database.run("quake-ingest", ["import"] + arguments, input: input)
  }

  /// Imports with `--json`; the status must be 0.
  private func report(_ arguments: [String], input: String = "/dev/null") throws -> [JSONLine] {
    try run(["--json"] + arguments, input: input).requireSuccess().lines.map(JSONLine.init)
  }

  private static func counts(_ line: JSONLine) -> [Int?] {
    ["seen", "inserted", "updated", "unchanged", "rejected", "duplicate"].map { line.integer($0) }
  }

  // MARK: Sources

  @Test func patternsGzipStandardInputAndURLsAreSources() throws {
    try folder.write("a.geojson", Feeds.collection(count: 3))
    try folder.write("b.geojson", Feeds.collection(count: 2, from: 11))
    let zipped = try folder.write("c", Feeds.collection(count: 4, from: 21))
    try #require(try Tools.shell("gzip '\(zipped)'").status == 0)
    let piped = try folder.write("d.csv", Feeds.csvHeader + "\n" + Feeds.row("us31") + "\n")
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 5, from: 41).utf8))
    let lines = try report(
      [folder.path + "/*.geojson", zipped + ".gz", "-", server.url], input: piped)
    #expect(lines.map { $0.integer("inserted") } == [3, 2, 4, 1, 5])
    #expect(lines.map { $0.string("feed") }.prefix(2) == ["a.geojson", "b.geojson"])
    #expect(lines[3].string("source") == "standard input")
    #expect(lines[3].string("format") == "usgs-csv")
    #expect(lines[4].string("source") == server.url)
    #expect(lines[4].integer("http_status") == 200)
    #expect(try database.count("quake.quake") == 15)
    #expect(server.requests.first?.headers["user-agent"]?.hasPrefix("quake/") == true)
  }

  @Test func aBadSourceDoesNotStopTheOthers() throws {
    let good = try folder.write("good.geojson", Feeds.collection(count: 3))
    let bad = try folder.write("bad.geojson", "<html><body>Sorry</body></html>")
    let other = try folder.write("other.geojson", Feeds.collection(count: 2, from: 11))
    // The status is that of the first that failed.
    let outcome = try run([bad, good, "\(folder.path)/none.geojson", other]).expect(
      65, "bad.geojson\" looks like an HTML page",
      "could not open file \"\(folder.path)/none.geojson\"")
    #expect(outcome.lines.count == 2)
    #expect(try database.count("quake.quake") == 5)
  }

  @Test func theSummaryIsOneLineAndTheAuthorInTheHistory() throws {
    let file = try folder.write("a.geojson", Feeds.collection(count: 3))
    let outcome = try run(["--author", "night shift", file]).expect(0)
    #expect(
      try database.value(
        """
        select concat_ws('/', t.author, t.context, t.application_name, i.id = t.import_id)
          from quake.change_transaction t, quake.import i
        """) == "night shift/a.geojson/quake-ingest/t")
    let line = try #require(outcome.lines.first)
    #expect(
      line.hasPrefix(
        "a.geojson: 3 seen: 3 inserted, 0 updated, 0 unchanged, 0 rejected, 0 duplicate, in "))
    #expect(try line.hasSuffix("; token " + database.value("select quake.latest_token()")))
    #expect(outcome.errors.isEmpty, "no progress bar where there is no terminal")
  }

  @Test func jsonHasEveryFigure() throws {
    let body = Feeds.collection([
      Feeds.feature("us1"), Feeds.feature("us2"), Feeds.feature("us1", magnitude: "3"),
      Feeds.feature("us3", coordinates: "500,0,0"),
    ])
    let server = try ScriptedServer(200, ["ETag: \"abc\""], body: Array(body.utf8))
    let line = try #require(try report([server.url]).first)
    #expect(
      line.keys == [
        "source", "feed", "format", "import", "http_status", "etag", "generated", "seen",
        "inserted", "updated", "unchanged", "rejected", "duplicate", "stale", "superseded",
        "withdrawn", "restored", "quarantine", "bytes", "seconds",
        "receive_seconds", "merge_seconds", "complete", "dry_run", "token",
      ])
    #expect(Self.counts(line) == [4, 2, 0, 0, 1, 1])
    #expect(line.string("etag") == "\"abc\"")
    #expect(line.string("generated")?.hasPrefix("2023-11-14T22:15:00") == true)
    #expect(line.integer("bytes") == body.utf8.count)
    #expect(line.bool("complete") == true && line.bool("dry_run") == false)
    #expect(try line.string("token") == database.value("select quake.latest_token()"))
    #expect(
      try line.integer("import").map(String.init) == database.value("select id from quake.import"))
    // The last of two records with the same code is stored. The reject is recorded.
    #expect(try database.value("select magnitude from quake.quake where code = 'us1'") == "3")
    #expect(
      try database.value("select reason from quake.import_reject where record = 4").contains(
        "longitude"))
    #expect(
      try database.value(
        """
        select concat_ws(' ', seen, inserted, updated, unchanged, rejected, duplicate, bytes,
                         http_status, etag, token) = '4 2 0 0 1 1 \(body.utf8.count) 200 "abc" 1'
          from quake.import
        """) == "t")
  }

  // MARK: Options

  @Test func aDryRunChangesNothing() throws {
    let file = try folder.write("a.geojson", Feeds.collection(count: 3))
    let before = try database.contents()
    let line = try #require(try report(["--dry-run", file]).first)
    #expect(Self.counts(line) == [3, 3, 0, 0, 0, 0])
    #expect(line.bool("dry_run") == true && line.isNull("import") && line.isNull("token"))
    #expect(try database.contents() == before)
    #expect(try run(["--dry-run", "--commit-every", "1", file]).output.contains("dry run"))
    #expect(try database.contents() == before)
  }

  @Test func commitEveryCommitsInBatches() throws {
    var features = (1...7).map { Feeds.feature("us\($0)") }
    features[4] = Feeds.feature("us5", coordinates: "500,0,0")
    let file = try folder.write("a.geojson", Feeds.collection(features))
    let line = try #require(try report(["--commit-every", "2", file]).first)
    #expect(Self.counts(line) == [7, 6, 0, 0, 1, 0])
    #expect(
      try database.column("select inserted from quake.change_transaction order by token") == [
        "2", "2", "1", "1",
      ])
    #expect(try database.count("quake.import") == 1)
    let again = try #require(try report(["--commit-every", "2", file]).first)
    #expect(Self.counts(again) == [7, 0, 0, 6, 1, 0])
  }

  @Test func commitEveryKeepsTheBatchesBeforeTheDamage() throws {
    let whole = Feeds.collection(count: 5)
    let file = try folder.write("a.geojson", String(whole.dropLast(100)))
    try run(["--commit-every", "2", file]).expect(65)
    #expect(try database.column("select code from quake.quake order by 1") == ["us1", "us2"])
    #expect(try database.value("select complete from quake.import") == "f")
    try folder.write("a.geojson", whole)
    #expect(try Self.counts(#require(report([file]).first)) == [5, 3, 0, 2, 0, 0])
  }

  /// Another session writes the same events in another order: an import that ends in a deadlock is
  /// repeated as a snapshot import.
  @Test func anImportIsRepeatedAfterADeadlock() throws {
    _ = try report([try folder.write("first", Feeds.collection([Feeds.feature("first")]))])
    // More than a batch.
    let file = try folder.write("a.geojson", Feeds.collection(count: 8_000))
    // Whoever stores this event waits while the gate is closed. PostgreSQL looks for a deadlock once in each wait,
    // so the import must begin the wait that completes the circle.
    try database.psql(
      """
      create function public.pass_gate() returns trigger language plpgsql as $$
        begin
          perform pg_catalog.pg_advisory_lock_shared(1);
          perform pg_catalog.pg_advisory_unlock_shared(1);
          return new;
        end
      $$;
      create trigger gate before insert on quake.quake for each row when (new.code = 'us8000')
        execute function public.pass_gate();
      """)
    let (hasBegun, goesOn) = (Flag(), Flag())
    let thread = BackgroundThread { [database] in
      let other = try database.connect(applicationName: "other")
      // So that the server ends the import's transaction and not this one.
      try other.run("set deadlock_timeout = '5min'")
      try other.begin()
      try other.run(
        "insert into quake.quake (code, source, time, magnitude) values ('us8000', 'usgs', now(), 1)"
      )
      hasBegun.raise()
      try goesOn.wait()
      try other.run(
        "insert into quake.quake (code, source, time, magnitude) values ('us1', 'usgs', now(), 1)")
      try other.commit()
    }
    try hasBegun.wait()
    let gate = try database.connect(applicationName: "gate")
    try gate.run("select pg_advisory_lock(1)")
    let process = try database.start("quake-ingest", ["import", "--json", "--verbose", file])
    let observer = try database.connect()
    #expect(try observer.waitUntilBlocked(applicationName: "quake-ingest"))
    goesOn.raise()
    #expect(try observer.waitUntilBlocked(applicationName: "other"))
    try gate.run("select pg_advisory_unlock(1)")
    try thread.join()
    let outcome = try process.exit().expect(0, "importing it once more")
    let line = try JSONLine(#require(outcome.lines.first))
    #expect(Self.counts(line) == [8_000, 7_998, 2, 0, 0, 0])
    #expect(outcome.lines.count == 1)
    #expect(try database.count("quake.import") == 2)
    // The first attempt was rolled back.
    #expect(
      try database.column(
        "select inserted || '|' || updated from quake.change_transaction order by token")
        == ["1|0", "2|0", "7998|2"])
  }

  /// So is one that commits more than once. What it had committed stays.
  @Test func anImportInSeveralTransactionsIsRepeatedAfterADeadlock() throws {
    let codes = (10..<50).map { "us\($0)" }
    func file(_ magnitude: String, _ generated: Int) throws -> String {
      try folder.write(
        "\(generated)",
        Feeds.collection(
          codes.map { Feeds.feature($0, magnitude: magnitude) }, generated: generated))
    }
    _ = try report([try file("1", 1_700_000_100_000)])
    let other = try database.connect(applicationName: "other")
    // So that the server ends the import's transaction and not this one.
    try other.run("set deadlock_timeout = '5min'")
    try other.begin()
    // Two transactions of the import commit; the third waits for its last event.
    try other.run("update quake.quake set felt = 1 where code = '\(codes[29])'")
    let process = try database.start(
      "quake-ingest",
      ["import", "--json", "--verbose", "--commit-every", "10", try file("2", 1_700_000_200_000)])
    #expect(try database.connect().waitUntilBlocked(applicationName: "quake-ingest"))
    try other.run("update quake.quake set felt = 1 where code = '\(codes[20])'")
    try other.commit()
    let outcome = try process.exit().expect(0, "importing it once more")
    #expect(outcome.lines.count == 1)
    #expect(try database.count("quake.quake where magnitude = 2") == 40)
    #expect(
      try database.column("select complete from quake.import order by id") == ["t", "f", "t"])
  }

  /// libpq sends these variables in a way that overrides the options of the connection.
  @Test func variablesOfLibpqChangeNothing() throws {
    let variables = [
      "PGTZ": "America/New_York", "PGDATESTYLE": "SQL, DMY",
      "PGOPTIONS": "-c standard_conforming_strings=off -c extra_float_digits=-15",
    ]
    let file = try folder.write(
      "a.geojson",
      Feeds.collection((1...3).map { Feeds.feature("us\($0)", magnitude: "2.3456789012345678") }))
    for (count, arguments) in [[file], ["--commit-every", "2", file]].enumerated() {
      try database.run("quake-ingest", ["import"] + arguments, environment: variables).expect(
        0, errors: "")
      #expect(try database.count("quake.change_transaction") == 1)
      #expect(try database.count("quake.import") == count + 1)
    }
    for arguments in [
      ["list", "--json"], ["history", "--json"], ["list", "--as-of", "2100-01-01"],
    ] {
      let plain = try database.run("quake-query", arguments)
      let other = try database.run("quake-query", arguments, environment: variables)
      #expect(plain.status == 0 && plain.output == other.output, "\(arguments)")
    }
  }

  @Test func mergePoliciesDecideWhatIsStored() throws {
    let old = try folder.write("old", Feeds.collection(count: 1, magnitude: "1", generated: 1000))
    let new = try folder.write("new", Feeds.collection(count: 1, magnitude: "2", generated: 2000))
    func magnitude() throws -> String { try database.value("select magnitude from quake.quake") }
    _ = try report([new])
    // An older snapshot does not overwrite, unless told to.
    let stale = try #require(try report([old]).first)
    #expect(Self.counts(stale) == [1, 0, 0, 1, 0, 0])
    #expect(stale.integer("stale") == 1)
    #expect(try magnitude() == "2")
    _ = try report(["--merge", "always", old])
    #expect(try magnitude() == "1")
    _ = try report(["--merge", "store", new])
    #expect(try magnitude() == "1")
    let before = try database.contents()
    try run(["--merge", "error", new]).expect(65, "with other contents, the first: \"us1\"")
    #expect(try database.contents() == before)
    _ = try report(["--merge", "error", old])
    _ = try report(["--merge=incoming", new])
    #expect(try magnitude() == "2")
  }

  @Test func generatedGivesAFileItsAge() throws {
    let body = Feeds.csvHeader + "\n"
    let first = try folder.write("first.csv", body + Feeds.row("us1", magnitude: "1") + "\n")
    let second = try folder.write("second.csv", body + Feeds.row("us1", magnitude: "2") + "\n")
    _ = try report(["--generated", "2024-01-02T00:00:00Z", first])
    #expect(
      try database.value("select as_of at time zone 'UTC' from quake.quake")
        == "2024-01-02 00:00:00")
    let older = try #require(try report(["--generated", "2024-01-01T00:00:00Z", second]).first)
    #expect(older.integer("stale") == 1 && older.integer("updated") == 0)
    let newer = try #require(try report(["--generated", "2024-01-03T00:00:00Z", second]).first)
    #expect(newer.integer("updated") == 1)
    #expect(newer.string("generated")?.hasPrefix("2024-01-03T00:00:00") == true)
  }

  /// The feed's own `generated` overrides the option, also where it is at the feed's end.
  @Test func theFeedsOwnAgeOverridesTheOption() throws {
    _ = try report([try folder.write("first", Feeds.collection([Feeds.feature("first")]))])
    let feature = Feeds.feature("us1")
    let file = try folder.write(
      "a.geojson",
      """
      {"type":"FeatureCollection","features":[\(feature)],"metadata":{"generated":1700000200000}}
      """)
    _ = try report(["--generated", "2024-01-02T00:00:00Z", file])
    #expect(
      try database.value("select as_of at time zone 'UTC' from quake.quake where code = 'us1'")
        == "2023-11-14 22:16:40")
  }
}
