import Foundation
import TestSupport
import Testing

/// Simulated events never happened: they have a source, networks and codes of their own, everything that is
/// printed says so, and they do not get into a store of others by accident.
@Suite struct SimulatedTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  private func simulated(_ name: String = "simulated.geojson", _ more: [String] = []) throws
    -> String
  {
    let file = folder.path + "/" + name
    try Tools.succeed(
      "quake-ingest", ["simulate", "--events", "40", "--output", file] + more)
    return file
  }

  private func ingest(_ arguments: String...) throws -> ToolProcess.Outcome {
    try Tools.run("quake-ingest", arguments + database.option)
  }

  private static let identities = """
    select string_agg(concat_ws(' ', code, source, net, net_code), ',' order by code) from quake.quake
    """

  // MARK: - What they are

  @Test func everyTextAndEveryExportSaysSo() throws {
    #expect(try ingest("import", simulated()).status == 0)
    let list = try Tools.run("quake-query", ["list", "--quiet"] + database.option)
    #expect(list.lines.count == 40)
    #expect(list.lines.allSatisfy { $0.contains("Simulated: ") && $0.contains("(sim") })
    let watch = try Tools.run(
      "quake-watch", ["--from-start", "--no-follow", "--quiet"] + database.option)
    #expect(watch.lines.count == 40)
    #expect(watch.lines.allSatisfy { $0.contains("Simulated: ") && $0.contains("(sim") })
    for ending in ["geojson", "csv", "ndjson", "txt", "xml", "kml"] {
      let file = folder.path + "/out." + ending
      try Tools.succeed("quake-query", ["export", "--output", file] + database.option)
      let text = try String(contentsOfFile: file, encoding: .utf8)
      #expect(text.components(separatedBy: "Simulated: ").count > 40, "\(ending)")
      guard ["geojson", "csv"].contains(ending) else { continue }
      // An import of the export keeps the source.
      let copy = try TestDatabase()
      let copied = try Tools.run("quake-ingest", ["import", file] + copy.option)
      #expect(copied.status == 0, "\(ending): \(copied.errors)")
      #expect(try copy.value(Self.identities) == database.value(Self.identities), "\(ending)")
    }
    let status = try Tools.run("quake-admin", ["status"] + database.option)
    #expect(status.output.contains("simulated events    40, which never happened"))
    let json = try JSONLine(
      Tools.run("quake-admin", ["status", "--json"] + database.option).output)
    #expect(json.integer("simulated_events") == 40)
    let metrics = try Tools.run("quake-admin", ["status", "--prometheus"] + database.option)
    #expect(metrics.output.contains("\nquake_simulated_events 40\n"))
  }

  // MARK: - Where they may be stored

  @Test func aStoreOfOtherEventsRefusesThemUnlessTold() throws {
    let real = try folder.write("real.geojson", Feeds.collection(count: 3))
    #expect(try ingest("import", real).status == 0)
    let file = try simulated()
    let archive = folder.path + "/archive"
    try FileManager.default.createDirectory(atPath: archive, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: file, toPath: archive + "/all_day_2026-01-01T0000Z.geojson")
    let service = try SimulatedService(["--events", "10"])
    for arguments in [
      ["import", file], ["import", "--commit-every", "5", file], ["import", "--dry-run", file],
      ["run", "--once", "--feed", "simulated"], ["run", "--once", "--feed", file],
      ["replay", archive], ["backfill", archive],
      ["backfill", "--url", service.base, "--last", "31d", "--rate", "1000"],
    ] {
      let outcome = try Tools.run("quake-ingest", arguments + database.option)
      #expect(outcome.status == 65, "\(arguments): \(outcome.errors)")
      #expect(
        outcome.errors.contains("cannot import simulated events beside real ones"),
        "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains("of the source \"usgs\""))
      #expect(outcome.errors.contains("--mix-simulated"))
    }
    #expect(try database.count("quake.quake") == 3)
    #expect(try ingest("import", "--mix-simulated", file).status == 0)
    #expect(try database.count("quake.quake where source = 'simulated'") == 40)
    #expect(try database.count("quake.quake where source = 'usgs'") == 3)
    try Tools.succeed(
      "quake-ingest",
      ["run", "--once", "--feed", "simulated", "--feed", real, "--mix-simulated"]
        + database.option)
  }

  /// Neither a large file, which is imported in batches, nor one that begins with rejects slips through.
  @Test func theyAreFoundAmongOthers() throws {
    let text = try String(contentsOfFile: simulated(), encoding: .utf8)
    let invented = try #require(text.firstRange(of: "\"features\":[")).upperBound
    let first = text[invented...].components(separatedBy: ",\n{")[0]
    let reject = #"{"type":"Feature","properties":{},"geometry":null,"id":"x"}"#
    for (name, list) in [
      ("mixed", [Feeds.feature("us1"), first]), ("reverse", [first, Feeds.feature("us1")]),
    ] {
      let file = try folder.write(name + ".geojson", Feeds.collection(list))
      let outcome = try ingest("import", file)
      #expect(outcome.status == 65, "\(name): \(outcome.errors)")
      #expect(outcome.errors.contains("cannot import simulated events beside real ones"))
    }
    #expect(try database.count("quake.quake") == 0)
    let real = try folder.write("real.geojson", Feeds.collection(count: 1))
    #expect(try ingest("import", real).status == 0)
    let hidden = try folder.write("hidden.geojson", Feeds.collection([reject, first]))
    #expect(try ingest("import", hidden).status == 65)
    #expect(try database.count("quake.quake") == 1)
  }

  /// Rows that a person has written are of no catalogue.
  @Test func aStoreOfTheirOwnMayHaveRowsMadeByHand() throws {
    try database.psql(
      "insert into quake.quake (code, time) values ('a1', now()), ('zz1', now());")
    let file = try simulated()
    #expect(try ingest("import", file).status == 0)
    let again = try ingest("import", file)
    #expect(again.status == 0 && again.output.contains("40 unchanged"))
    // A worker that polls a real feed there says that they are there.
    let real = try folder.write("real.geojson", Feeds.collection(count: 3))
    let run = try ingest("run", "--once", "--feed", real)
    #expect(run.status == 0)
    #expect(run.errors.contains("the store also has simulated events, which never happened"))
    let other = try ingest("run", "--once", "--feed", "simulated", "--feed", real)
    #expect(other.status == 64 && other.errors.contains("--mix-simulated"))
  }

  /// A snapshot lacks events of the simulator's own.
  @Test func aSimulatedEventThatSnapshotsLackIsWithdrawn() throws {
    let service = try SimulatedService(["--events", "300", "--days", "20"])
    let url = "http://127.0.0.1:\(service.port)/earthquakes/feed/v1.0/summary/all_month.geojson"
    #expect(try ingest("run", "--once", "--feed", url, "--withdraw-after", "1").status == 0)
    try database.psql(
      """
      insert into quake.quake (code, source, time, magnitude, longitude, latitude, as_of)
      values ('simus1lost', 'simulated', now() - interval '5 days', 5, 1, 1, now() - interval '1 day');
      update quake.feed set next_due = now(), etag = null, last_modified = null;
      """)
    #expect(try ingest("run", "--once", "--feed", url, "--withdraw-after", "1").status == 0)
    #expect(
      try database.column("select code from quake.quake where withdrawn_at is not null")
        == ["simus1lost"])
  }

  // MARK: - Writing a file

  @Test func anOutputThatFailsIsNoUnavailableService() throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let output = try Tools.start("quake-ingest", ["simulate", "--output", "-"], output: full).exit()
    #expect(output.status == 1)
    #expect(
      output.errors == "quake-ingest: error: could not write output: No space left on device\n")
    let file = try Tools.run("quake-ingest", ["simulate", "--output", "/dev/full"])
    #expect(file.status == 1)
    #expect(
      file.errors
        == "quake-ingest: error: could not write file \"/dev/full\": No space left on device\n")
    // A reader that has enough is no error.
    let closed = try Tools.shell(
      "{ quake-ingest simulate --output - || echo $? >&2; } | head -c 1", folder: folder.path)
    #expect(closed.output == "{" && closed.errors.isEmpty, "\(closed.errors)")
  }

  @Test(arguments: ["--rate=fast", "--port=-1", "--fault=none", "--days=0", "--max-age=1d"])
  func aFileDoesNotHideAWrongOption(option: String) throws {
    let file = folder.path + "/all.geojson"
    let outcome = try Tools.run("quake-ingest", ["simulate", option, "--output", file])
    #expect(outcome.status == 64 && outcome.errors.contains("invalid value"), "\(outcome.errors)")
    #expect(!FileManager.default.fileExists(atPath: file))
  }
}
