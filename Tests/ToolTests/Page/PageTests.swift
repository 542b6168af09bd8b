import Foundation
import TestSupport
import Testing

/// The page in headless Chromium.
@Suite(.enabled(if: BrowserScenes.python != nil, "\(BrowserScenes.isMissing)"))
struct PageTests {
  /// Events of all kinds, and a history.
  private static func smallDatabase() throws -> TestDatabase {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    let types = ["earthquake", "earthquake", "earthquake", "quarry blast", "explosion"]
    let features = (1...260).map { number in
      Feeds.feature(
        "us\(number)", magnitude: "\(Double(number * 7 % 60) / 10)",
        place: [
          "6 km SSW of Pāhala, Hawaii", "Fiji region", "Near <b>the</b> coast & \\\"more\\\"",
        ][
          number % 3],
        coordinates: "\(number * 37 % 360 - 180),\(number * 17 % 150 - 75),\(number % 60)",
        time: 1_795_000_000_000 - number * 3_600_000,
        changes: [
          "type": "\"\(types[number % 5])\"", "net": "\"\(number % 4 == 0 ? "ci" : "us")\"",
          "felt": number % 9 == 0 ? "\(number)" : "null", "tsunami": number % 50 == 0 ? "1" : "0",
          "alert": number % 30 == 0 ? "\"yellow\"" : "null",
          "status": number % 2 == 0 ? "\"reviewed\"" : "\"automatic\"",
        ])
    }
    let file = try folder.write("feed.geojson", Feeds.collection(features))
    try database.succeed("quake-ingest", ["import", file])
    try database.psql("delete from quake.quake where code in ('us7', 'us8', 'us99')")
    try database.psql(
      "insert into quake.quake (code, time, magnitude, place) values ('local1', now() - interval '1 hour', null, null)"
    )
    return database
  }

  /// 50,000 events.
  private static func largeDatabase() throws -> TestDatabase {
    let database = try TestDatabase()
    try database.psql(
      """
      insert into quake.quake (code, net, source, type, status, magnitude, magnitude_type, place, time, updated,
        longitude, latitude, depth, felt, alert, tsunami, sig)
      select 'big' || i, case i % 3 when 0 then 'us' when 1 then 'ci' else 'ak' end, 'usgs', 'earthquake',
        case i % 2 when 0 then 'reviewed' else 'automatic' end, (i * 7919 % 70) / 10.0, 'ml',
        (i % 90) || ' km SSW of Town ' || i % 4001 || ', Region ' || i % 50, now() - i * interval '50 seconds',
        now() - i * interval '40 seconds', i * 7.31 - 360 * floor(i * 7.31 / 360) - 180, sin(i) * 60, i % 300,
        null, null, 0, i % 600
        from generate_series(0, 49999) i;
      analyze quake.quake;
      """)
    return database
  }

  private static let live = Swift.Result {
    try BrowserScenes.play(["live", "odd", "answers", "access"], on: smallDatabase())
  }
  private static let load = Swift.Result {
    try BrowserScenes.play(
      ["load"], on: largeDatabase(), patience: .seconds(1200))
  }

  private func check(_ scene: String, _ results: [String: BrowserScenes.Result]) throws {
    let result = try #require(results[scene], "the scene \(scene) did not run")
    #expect(result.passed, "\(result.text)")
  }

  @Test(arguments: [
    "list_equals_database", "change_is_visible", "detail_has_all", "strong_events_are_notified",
    "edits_need_a_token", "edits_work_with_a_token", "past_is_what_as_of_says",
    "tabs_share_a_stream", "tabs_without_shared_workers_stay_right",
    "a_read_only_page_has_no_edits", "tiles_come_from_their_server", "recovers_from_a_restart",
    "frame_is_embeddable", "text_of_feeds_stays_text", "net_differences_since_a_point",
    "charts_say_what_the_statistics_say", "every_language_has_its_texts",
    "odd_addresses_do_no_harm", "a_page_of_which_a_file_is_missing_says_so",
    "an_empty_list_is_not_waited_for",
    "events_without_a_position_are_not_on_the_map",
    "a_note_of_a_row_is_shown_whole_or_not_at_all",
    "the_past_before_the_first_change", "a_purged_past_has_no_list", "a_frame_shows_the_past",
    "playing_shows_what_is_committed_meanwhile", "everything_fits_into_a_small_window",
    "days_begin_at_midnight", "the_page_answers_beyond_what_it_loads", "days_are_chosen",
    "a_lost_database_is_not_live", "what_is_seen_is_what_is_read",
    "everything_is_accessible", "no_request_leaves",
  ])
  func thePageIsLive(scene: String) throws {
    try check(scene, try Self.live.get())
  }

  @Test(
    .enabled(if: Tools.isSoak, "make soak has it"),
    arguments: [
      "first_load_on_loopback", "first_load_is_readable", "stays_smooth", "no_request_leaves",
    ])
  func thePageIsFast(scene: String) throws {
    try check(scene, try Self.load.get())
  }

  /// More real events than the page loads.
  private static func realDatabase() throws -> TestDatabase {
    let database = try TestDatabase()
    let names = FileManager.default.enumerator(atPath: Feeds.realFolder)
    let files = (names?.compactMap { $0 as? String } ?? []).filter {
      ["csv", "geojson", "json", "xml"].contains(($0 as NSString).pathExtension)
    }
    // Some of them are no feeds, on purpose.
    for file in files.sorted() {
      _ = try database.run("quake-ingest", ["import", "\(Feeds.realFolder)/\(file)"])
    }
    // The real files have 139,000 events: two of their months occur again, ten years earlier.
    try database.psql(
      """
      insert into quake.quake (code, net, source, type, status, magnitude, magnitude_type, place, time, longitude,
        latitude, depth)
      select 'again' || code, net, 'again', type, status, magnitude, magnitude_type, place, time - interval '10 years',
        longitude, latitude, depth
        from quake.current_quake
       where time between '2025-06-01' and '2025-08-01' or time between '2020-03-01' and '2020-04-01';
      analyze quake.quake;
      """)
    let count = try database.value("select count(*) from quake.current_quake")
    try #require(Int(count).map { $0 >= 150_000 } == true, "\(count) events are too few")
    return database
  }

  @Test(
    .enabled(if: Tools.isSoak, "make soak has it"),
    .enabled(if: Feeds.hasReal, "no real feeds in QUAKE_REAL_FEEDS"))
  func thePageAnswersForRealMonths() throws {
    let scene = "the_page_answers_for_real_months"
    try check(scene, try BrowserScenes.play(["real"], on: Self.realDatabase()))
  }

  /// `make screenshots`.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["QUAKE_SCREENSHOTS"] != nil,
      "QUAKE_SCREENSHOTS names no folder for pictures"))
  func picturesAreTaken() throws {
    let real = Feeds.realFolder + "/usgs/usgs_2.5_month_2019-07-19T0257Z.geojson"
    let environment =
      FileManager.default.fileExists(atPath: real) ? ["QUAKE_PICTURES_FEED": real] : [:]
    let database = try TestDatabase()
    try check(
      "pictures", try BrowserScenes.play(["pictures"], on: database, environment: environment))
  }
}
