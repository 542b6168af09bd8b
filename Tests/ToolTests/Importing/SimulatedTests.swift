import Foundation
import TestSupport
import Testing

/// Simulated events never happened: they have a source, networks and codes of their own, everything that is
/// printed says so, and they do not get into a store of others by accident.
@Suite final class SimulatedTests: ToolSuite {
  private func simulated(_ name: String = "simulated.geojson", _ more: [String] = []) throws
    -> String
  {
    let file = folder.path + "/" + name
    try Tools.succeed(
      "quake-ingest", ["simulate", "--events", "40", "--output", file] + more)
    return file
  }

  private func ingest(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-ingest", arguments)
  }

  private static let identities = """
    select string_agg(concat_ws(' ', code, source, net, net_code), ',' order by code) from quake.quake
    """

  // MARK: - What they are

  @Test func everyTextAndEveryExportSaysSo() throws {
    #expect(try ingest("import", simulated()).status == 0)
    let list = try database.run("quake-query", ["list", "--quiet"])
    #expect(list.lines.count == 40)
    #expect(list.lines.allSatisfy { $0.contains("Simulated: ") && $0.contains("(sim") })
    let watch = try database.run("quake-watch", ["--from-start", "--no-follow", "--quiet"])
    #expect(watch.lines.count == 40)
    #expect(watch.lines.allSatisfy { $0.contains("Simulated: ") && $0.contains("(sim") })
    for ending in ["geojson", "csv", "ndjson", "txt", "xml", "kml"] {
      let file = folder.path + "/out." + ending
      try database.succeed("quake-query", ["export", "--output", file])
      let text = try contents(of: file)
      #expect(text.components(separatedBy: "Simulated: ").count > 40, "\(ending)")
      guard ["geojson", "csv"].contains(ending) else { continue }
      // An import of the export keeps the source.
      let copy = try TestDatabase()
      try copy.run("quake-ingest", ["import", file]).expect(0, with: ending)
      #expect(try copy.value(Self.identities) == database.value(Self.identities), "\(ending)")
    }
    let status = try database.run("quake-admin", ["status"])
    #expect(status.output.contains("simulated events    40, which never happened"))
    let json = try JSONLine(database.run("quake-admin", ["status", "--json"]).output)
    #expect(json.integer("simulated_events") == 40)
    let metrics = try database.run("quake-admin", ["status", "--prometheus"])
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
      try database.run("quake-ingest", arguments).expect(
        65, "cannot import simulated events beside real ones", "of the source \"usgs\"",
        "--mix-simulated", with: arguments)
    }
    #expect(try database.count("quake.quake") == 3)
    #expect(try ingest("import", "--mix-simulated", file).status == 0)
    #expect(try database.count("quake.quake where source = 'simulated'") == 40)
    #expect(try database.count("quake.quake where source = 'usgs'") == 3)
    try database.succeed(
      "quake-ingest", ["run", "--once", "--feed", "simulated", "--feed", real, "--mix-simulated"])
  }

  /// Neither a large file, which is imported in batches, nor one that begins with rejects slips through.
  @Test func theyAreFoundAmongOthers() throws {
    let text = try contents(of: simulated())
    let invented = try #require(text.firstRange(of: "\"features\":[")).upperBound
    let first = text[invented...].components(separatedBy: ",\n{")[0]
    let reject = #"{"type":"Feature","properties":{},"geometry":null,"id":"x"}"#
    for (name, list) in [
      ("mixed", [Feeds.feature("us1"), first]), ("reverse", [first, Feeds.feature("us1")]),
    ] {
      let file = try folder.write(name + ".geojson", Feeds.collection(list))
      try ingest("import", file).expect(
        65, "cannot import simulated events beside real ones", with: name)
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
    try ingest("import", file).expect(0, printing: "40 unchanged")
    // A worker that polls a real feed there says that they are there.
    let real = try folder.write("real.geojson", Feeds.collection(count: 3))
    try ingest("run", "--once", "--feed", real).expect(
      0, "the store also has simulated events, which never happened")
    try ingest("run", "--once", "--feed", "simulated", "--feed", real).expect(64, "--mix-simulated")
  }

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
    try Tools.start("quake-ingest", ["simulate", "--output", "-"], output: full).exit().expect(
      1, errors: "quake-ingest: error: could not write output: No space left on device\n")
    let file = try Tools.run("quake-ingest", ["simulate", "--output", "/dev/full"]).expect(1)
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
    try Tools.run("quake-ingest", ["simulate", option, "--output", file]).expect(
      64, "invalid value")
    #expect(!FileManager.default.fileExists(atPath: file))
  }
}
