import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-watch rehearse`, on a history that the tests make, and on real days.
@Suite struct RehearseTests {
  private let database: TestDatabase
  private let connection: Connection

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
  }

  private func rehearse(
    _ configuration: String, _ arguments: String...
  ) throws -> ToolProcess.Outcome {
    let folder = try TemporaryFolder()
    let file = folder.path + "/consumers.conf"
    try configuration.write(toFile: file, atomically: true, encoding: .utf8)
    return try database.succeed("quake-watch", ["rehearse", "--config", file] + arguments)
  }

  /// Stores an event whose origin time is some minutes before now.
  private func store(_ code: String, _ magnitude: Double, minutesAgo: Int = 10) throws {
    try connection.run(
      """
      insert into quake.quake (code, source, type, time, magnitude, latitude, longitude, depth, place)
      values ('\(code)', 'usgs', 'earthquake', now() - \(minutesAgo) * interval '1 minute', \(magnitude), 1, 2, 10, 'here')
      on conflict (code) do update set magnitude = excluded.magnitude
      """)
  }

  @Test func aRehearsalCountsWhatWouldHaveBeenTold() throws {
    try store("us1", 5)
    try store("us2", 6, minutesAgo: 30)
    try store("us3", 4)
    try store("us1", 5.5)
    try store("us2", 4.4, minutesAgo: 30)
    try connection.run("delete from quake.quake where code = 'us1'")
    try store("us4", 5, minutesAgo: 20_000)
    let configuration = """
      [consumer duty]
      alert = true
      min-magnitude = 4.5
      output = stdout

      [consumer log]
      min-magnitude = 5
      output = stdout
      """
    let outcome = try rehearse(configuration, "--last", "1d", "--json")
    let lines = try outcome.lines.map(JSONLine.init)
    #expect(lines.map { $0.string("consumer") } == ["duty", "log"])
    let duty = lines[0]
    for (name, value) in [
      ("messages", 5), ("opened", 2), ("updated", 2), ("retracted", 1), ("closed", 0),
      ("earthquakes", 2), ("later_retracted", 1), ("revised_below", 1), ("most_messages", 3),
      ("merged", 0), ("changes", 0),
    ] {
      #expect(duty.integer(name) == value, "\(name)")
    }
    #expect(duty.double("messages_an_earthquake") == 2.5)
    #expect(try abs(#require(duty.double("delay_median")) - 600) < 60)
    #expect(try abs(#require(duty.double("delay_p90")) - 1800) < 60)
    // Changes that meet the conditions before or after.
    #expect(lines[1].integer("changes") == 6 && lines[1].integer("opened") == 0)
    let text = try rehearse(configuration, "--last", "1d").lines
    #expect(text[0].hasPrefix("consumer \"duty\": "))
    #expect(text[2] == "  opened 2, updated 2, retracted 1, closed 0")
    #expect(text.contains("  later retracted: 1 of 2 earthquakes"))
    #expect(text.contains("  revised below M 4.5: 1 of 2 earthquakes"))
    // The past alone has nothing.
    let past = try rehearse(configuration, "--to", "1 h ago", "--json").lines.map(JSONLine.init)
    #expect(past.map { $0.integer("messages") } == [0, 0])
    #expect(try database.count("quake.conversation") == 0 && database.count("quake.watcher") == 0)
  }

  @Test func theSameTimesGiveTheSameRehearsal() throws {
    for number in 0..<30 { try store("us\(number)", Double(number % 8), minutesAgo: number) }
    try connection.run("update quake.quake set magnitude = magnitude + 0.5 where magnitude > 3")
    let end = try #require(
      try database.column(
        "select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
      ).first)
    let configuration = "[consumer a]\nalert = true\nmin-magnitude = 4\noutput = stdout\n"
    let first = try rehearse(configuration, "--from", "2 days ago", "--to", end, "--json").lines
    try store("late", 8)
    let again = try rehearse(configuration, "--from", "2 days ago", "--to", end, "--json").lines
    let line = try JSONLine(first[0])
    #expect(line.integer("opened") ?? 0 > 5)
    for name in ["messages", "opened", "updated", "retracted", "most_messages"] {
      #expect(try JSONLine(again[0]).integer(name) == line.integer(name), "\(name)")
    }
  }

  @Test func aHistoryThatWasPurgedIsRehearsedFromWhereItBegins() throws {
    try store("us1", 5)
    try store("us2", 5)
    try store("us1", 6)
    let newest = try #require(try database.column("select quake.latest_token()").first)
    try database.succeed("quake-admin", ["history", "purge", "--yes", "--before", newest])
    try store("us3", 5)
    let lines = try rehearse(
      "[consumer a]\nalert = true\nmin-magnitude = 4\noutput = stdout\n", "--last", "365d",
      "--json"
    ).lines.map(JSONLine.init)
    #expect(lines[0].integer("opened") == 1)
  }

  // MARK: - Real days

  /// Each code that was ever shown with a magnitude of 4.5 and more. These days' files have no ids of other events, so
  /// each code is an earthquake.
  private static let strong = """
    select distinct code from quake.quake_version
     where magnitude >= 4.5 and superseded_by is null and withdrawn_at is null
     order by code
    """

  @Test(
    .enabled(if: Feeds.hasReal, "no real feeds in QUAKE_REAL_FEEDS"),
    arguments: ["2025-03-28_m7.7_myanmar"]
      + (Tools.isSoak
        ? [
          "2022-09-02_two_backends", "2024-10-07_garbage_times", "2025-09-29_stale_and_empty",
          "2026-08-15_normal_days",
        ]
        : []))
  func onRealDaysNoEarthquakeOpensTwice(_ name: String) throws {
    try database.succeed("quake-ingest", ["replay", "\(Feeds.realFolder)/replay/\(name)"])
    let codes = try database.column(Self.strong)
    // Counted by hand in the files: 41 ids have a magnitude of 4.5 and more in one of them.
    if name.hasSuffix("myanmar") { #expect(codes.count == 41) }
    // The days are long past when they are replayed.
    let rule = "alert = true\nmin-magnitude = 4.5\nclose-after = 100000d\noutput = stdout\n"
    let sections = codes.map { "[consumer \($0)]\ncode = \($0)\n\(rule)" }
    let lines = try rehearse(
      ("[consumer all]\n" + rule) + sections.joined(), "--last", "1d", "--json"
    ).lines.map(JSONLine.init)
    #expect(lines.count == codes.count + 1)
    #expect(lines[0].integer("opened") == codes.count)
    for line in lines.dropFirst() {
      #expect(line.integer("opened") == 1, "\(line.string("consumer") ?? "")")
    }
    if name.hasSuffix("myanmar") {
      // By hand: of these, M 6.4 became 6.7, and no other was revised by a step.
      #expect(lines[0].integer("updated") == 1 && lines[0].integer("retracted") == 0)
    }
  }
}
