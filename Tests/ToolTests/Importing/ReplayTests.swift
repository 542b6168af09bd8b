import Foundation
import TestSupport
import Testing

/// Snapshots of real days, good and bad, through the built tools.
@Suite(.enabled(if: Feeds.hasReal, "no real feeds in QUAKE_REAL_FEEDS"))
final class ReplayTests: ToolSuite {
  private func replay(_ name: String, _ arguments: String...) throws -> [JSONLine] {
    try database.succeed(
      "quake-ingest", ["replay", "\(Feeds.realFolder)/replay/\(name)", "--json"] + arguments
    ).lines.map(JSONLine.init)
  }

  private static func files(_ name: String) throws -> [String] {
    let folder = "\(Feeds.realFolder)/replay/\(name)"
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".csv") }.sorted().map { "\(folder)/\($0)" }
  }

  /// The values of each event in the last snapshot that has it, which the store should have.
  private static func lastValues(_ name: String) throws -> [String: [String]] {
    var events: [String: [String]] = [:]
    for file in try files(name) {
      let rows = try CSVTable(contents(of: file))
      for row in rows.rows {
        events[row["id"] ?? ""] = columns.map { row[$0.feed] ?? "" }
      }
    }
    return events
  }

  private static let columns: [(feed: String, store: String)] = [
    ("id", "code"), ("net", "net"), ("type", "type"), ("status", "status"), ("place", "place"),
    ("magType", "magnitude_type"), ("mag", "magnitude"), ("depth", "depth"),
    ("latitude", "latitude"), ("longitude", "longitude"), ("nst", "nst"), ("gap", "gap"),
    ("dmin", "dmin"), ("rms", "rms"), ("time", "time"), ("updated", "updated"),
  ]

  /// The stored values as the feed writes them. `isSame` compares numbers by value.
  private func stored() throws -> [String: [String]] {
    let list = Self.columns.map { column in
      ["time", "updated"].contains(column.store)
        ? #"to_char(\#(column.store) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#
        : column.store
    }
    let lines = try database.column(
      "select concat_ws(E'\\x1f', \(list.map { "coalesce(\($0)::text, '')" }.joined(separator: ", "))) from quake.quake"
    )
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let values = line.components(separatedBy: "\u{1f}")
        return (values[0], values)
      })
  }

  private static func isSame(_ left: [String], _ right: [String]) -> Bool {
    left.count == right.count
      && zip(left, right).allSatisfy { left, right in
        if left == right { return true }
        guard let a = Double(left), let b = Double(right) else { return false }
        return a == b
      }
  }

  private static let myanmar = "2025-03-28_m7.7_myanmar"

  @Test(arguments: [myanmar] + (Tools.isSoak ? ["2026-08-15_normal_days"] : []))
  func ordinaryDaysEndWithTheValuesOfTheLastSnapshots(_ name: String) throws {
    let lines = try replay(name)
    #expect(lines.count == (try Self.files(name)).count)
    #expect(lines.allSatisfy { $0.string("feed") == "all_day" })
    #expect(try database.count("quake.import_body") == 0, "no good snapshot is quarantined")
    let expected = try Self.lastValues(name)
    let found = try stored()
    #expect(found.count == expected.count)
    let wrong = expected.filter { code, values in !Self.isSame(values, found[code] ?? []) }
    #expect(wrong.isEmpty, "\(wrong.map { ($0.value, found[$0.key]) }.prefix(3))")
    // Each update changes a column, and all events of the last snapshot are current.
    #expect(
      try database.value(
        "select count(*) from quake.quake_version where op = 'update' and changed = '{}'") == "0")
    let last = try CSVTable(contents(of: #require(Self.files(name).last)))
    let live = Set(try database.column("select code from quake.current_quake"))
    #expect(last.rows.allSatisfy { live.contains($0["id"] ?? "") })
    if name == Self.myanmar {
      // The great earthquake is one current event throughout.
      let great = "from quake.quake_version where magnitude >= 7.5"
      #expect(try database.column("select distinct code \(great)") == ["us7000pn9s"])
      #expect(try database.value("select count(*) \(great)") != "1", "it was revised")
      #expect(
        try database.value(
          "select bool_and(superseded_by is null and withdrawn_at is null) \(great)") == "t")
    }
    if Tools.isSoak { try checkSecondReplay(name) }
  }

  /// A second replay changes nothing.
  private func checkSecondReplay(_ name: String) throws {
    let token = try database.value("select quake.latest_token()")
    let again = try replay(name)
    #expect(again.allSatisfy { $0.integer("withdrawn") == 0 && $0.integer("restored") == 0 })
    #expect(try database.value("select quake.latest_token()") == token)
  }

  /// Why each snapshot is bad, from its contents: no events, no valid times, or no update in the
  /// last hours. nil for a good one.
  private static func reasons(_ name: String) throws -> [String?] {
    try files(name).map { file in
      let rows = try CSVTable(contents(of: file)).rows
      guard !rows.isEmpty else { return "empty" }
      let updates = rows.compactMap { $0["updated"] }.filter { $0.hasPrefix("20") }
      guard updates.count > rows.count / 2, let newest = updates.max() else {
        return "implausible times"
      }
      let taken = try #require(file.components(separatedBy: "all_day_").last).prefix(15)
      let format = ISO8601DateFormatter()
      let date = try #require(
        format.date(from: "\(taken.prefix(13)):\(taken.suffix(2)):00Z"), "\(taken)")
      let update = try #require(format.date(from: newest.prefix(19) + "Z"))
      return date.timeIntervalSince(update) > 3 * 3600 ? "stale" : nil
    }
  }

  @Test(arguments: [
    "2022-09-02_two_backends", "2024-10-07_garbage_times", "2025-09-29_stale_and_empty",
  ])
  func incidentsDoNoHarm(_ name: String) throws {
    let reasons = try Self.reasons(name)
    #expect(reasons.contains { $0 != nil } && reasons.contains { $0 == nil })
    let lines = try replay(name)
    #expect(lines.map { $0["quarantine"]?.string("reason") } == reasons)
    // The store has the contents of the good snapshots only.
    let events = try zip(Self.files(name), reasons).filter { $0.1 == nil }
      .reduce(into: [String: [String]]()) { events, file in
        for row in try CSVTable(contents(of: file.0)).rows {
          events[row["id"] ?? ""] = Self.columns.map { row[$0.feed] ?? "" }
        }
      }
    let stored = try stored()
    #expect(stored.count == events.count)
    for (code, values) in events {
      #expect(Self.isSame(values, stored[code] ?? []), "\(values) \(stored[code] ?? [])")
    }
    // Later good snapshots do not have the withdrawn events.
    for (code, since) in try database.column(
      "select code || ' ' || to_char(withdrawn_at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24MI\"Z\"') from quake.quake where withdrawn_at is not null"
    ).map({ ($0.split(separator: " ")[0], $0.split(separator: " ")[1]) }) {
      for (file, reason) in zip(try Self.files(name), reasons)
      where reason == nil && file >= "\(Feeds.realFolder)/replay/\(name)/usgs_all_day_\(since).csv"
      {
        #expect(try !contents(of: file).contains(",\(code),"))
      }
    }
    // The bodies are stored unchanged.
    let listed = try database.run("quake-admin", ["imports", "--quarantined", "--json"]).lines.map(
      JSONLine.init)
    #expect(listed.count == reasons.count { $0 != nil })
    let first = try #require(listed.last)
    let body = try database.run(
      "quake-admin", ["imports", "body", "\(first.integer("import") ?? 0)"])
    #expect(try body.output == contents(of: #require(first.string("source"))))
    if name.hasSuffix("stale_and_empty") { try checkSecondReplay(name) }
  }

  @Test func quarantinedSnapshotsCanBeAppliedOrDiscarded() throws {
    _ = try replay("2025-09-29_stale_and_empty")
    func admin(_ arguments: String...) throws -> (status: Int32, text: String) {
      let outcome = try database.run("quake-admin", ["imports"] + arguments)
      return (outcome.status, outcome.output + outcome.errors)
    }
    let before = try stored()
    let applied = try admin("apply", "1")
    #expect(applied.status == 0 && applied.text.contains("applied import 1 as import 25"))
    // It inserted events that no other snapshot had, and changed no other event.
    let after = try stored()
    #expect(after.count > before.count)
    #expect(before.allSatisfy { after[$0.key] == $0.value })
    #expect(
      try database.value("select decision || applied_import_id from quake.import where id = 1")
        == "applied25")
    #expect(try admin("discard", "4").status == 0)
    for (action, id) in [("apply", "1"), ("discard", "1"), ("discard", "4"), ("body", "4")] {
      #expect(try admin(action, id).status == 65)
    }
    #expect(try admin("apply").status == 64)
    #expect(try admin("apply", "x").status == 64)
    #expect(try admin("remove", "1").status == 64)
    #expect(
      try database.column("select import_id from quake.import_body order by 1")
        == ["5", "8", "12", "16", "17", "19", "21"])
  }

  @Test(arguments: [false, true])
  func switchedIdsAreOneCurrentEventEach(_ isReversed: Bool) throws {
    let files = ["usgs_all_week_2021-07-20T1423Z", "usgs_all_week_2021-07-22T2039Z"].map {
      "\(Feeds.realFolder)/usgs/\($0).geojson"
    }
    for file in isReversed ? files.reversed() : files {
      try database.succeed("quake-ingest", ["import", file])
    }
    let features = try files.map { file in
      let root = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file)))
      return try #require((root as? [String: Any])?["features"] as? [[String: Any]])
    }
    let newer = Set(features[1].compactMap { $0["id"] as? String })
    var successors: [String: String] = [:]
    for feature in features[1] {
      let ids = (feature["properties"] as? [String: Any])?["ids"] as? String ?? ""
      for id in ids.split(separator: ",") { successors[String(id)] = feature["id"] as? String }
    }
    let switched = features[0].compactMap { $0["id"] as? String }
      .filter { !newer.contains($0) && successors[$0] != nil }
    #expect(switched.count >= 3)
    for old in switched {
      let new = try #require(successors[old])
      for id in [old, new] {
        let shown = try database.run("quake-query", ["show", id, "--json"])
        #expect(try shown.lines.map(JSONLine.init).map { $0.string("code") } == [new])
      }
      #expect(
        try database.column(
          "select code from quake.current_quake where code in ('\(old)', '\(new)')") == [new])
    }
    let all = try database.count("quake.quake")
    func count(_ arguments: String...) throws -> String? {
      try database.run("quake-query", ["list", "--count"] + arguments).lines.first
    }
    #expect(try count() == "\(all - switched.count)")
    #expect(try count("--superseded") == "\(all)")
    #expect(try count("--withdrawn") == "\(all - switched.count)")
  }

  @Test func anEventIsFoundByItsIdsBeforeAndAfterASwitch() throws {
    for name in ["before", "after"] {
      let file = "\(Feeds.realFolder)/usgs/usgs_feature_id_\(name).json"
      try database.succeed("quake-ingest", ["import", file])
    }
    #expect(try database.count("quake.quake") == 2)
    let live = try database.value("select code from quake.current_quake")
    for code in try database.column("select code from quake.quake") {
      #expect(try database.value("select code from quake.find('\(code)')") == live)
    }
  }
}
