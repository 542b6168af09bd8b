import Foundation
import Postgres
import TestSupport
import Testing

/// Counts, averages, b-values and areas equal those that Python computes from the same real feed.
@Suite(
  .enabled(if: Feeds.hasReal, "no real feeds in QUAKE_REAL_FEEDS"),
  .enabled(if: PythonReference.isThere, "there is no python3"))
struct RealFigureTests {
  private static let feed = Feeds.realFolder + "/usgs/usgs_all_week_2023-04-07T1723Z.geojson"
  /// The store of all tests, which only read it.
  private static let original = Result<TestDatabase, any Error> {
    let database = try TestDatabase()
    try database.succeed("quake-ingest", ["import", feed])
    return database
  }
  private let database: TestDatabase

  init() throws {
    database = try Self.original.get()
  }

  private func lines(_ arguments: String...) throws -> [JSONLine] { try lines(arguments) }

  private func lines(_ arguments: [String]) throws -> [JSONLine] {
    try database.succeed("quake-query", arguments + ["--json"]).lines.map(JSONLine.init)
  }

  private func isNear(_ left: Double?, _ right: Any?) -> Bool {
    switch (left, (right as? NSNumber)?.doubleValue) {
    case (nil, nil): true
    case (let left?, let right?): abs(left - right) <= 1e-9 * max(abs(left), abs(right))
    default: false
    }
  }

  @Test(arguments: [
    ("region", "region"), ("type", "lambda e: e['type']"),
    ("hour", "lambda e: time(e).strftime('%Y-%m-%dT%H:00Z')"),
    ("magnitude", "lambda e: None if e['mag'] is None else tenths(e['mag']) // 10"),
  ])
  func groupsOfRealEventsEqualThoseOfPython(key: String, function: String) throws {
    let some = key == "type" ? "events" : "earthquakes"
    let value = try PythonReference.evaluate(
      "[groups(\(function), 'mag', \(some)), groups(\(function), 'depth', \(some))]", on: Self.feed)
    let reference = try #require(value as? [[String: [Any]]])
    for (column, expected) in zip(["magnitude", "depth"], reference) {
      let classes = key == "magnitude" ? ["--bin", "1"] : []
      let groups = try lines(["stats", "--by", key, "--of", column] + classes)
      #expect(groups.count == expected.count && groups.count > 0)
      for group in groups {
        let name = group.string("key") ?? group.double("key").map { "\(Int($0))" } ?? "none"
        let figures = try #require(expected[name], "\(name)")
        #expect(group.integer("count") == (figures[0] as? NSNumber)?.intValue, "\(name)")
        #expect(group.integer("known") == (figures[1] as? NSNumber)?.intValue, "\(name)")
        for (index, member) in ["average", "minimum", "maximum"].enumerated() {
          #expect(isNear(group.double(member), figures[index + 2]), "\(name) \(member)")
        }
      }
    }
  }

  private static let figures = ["completeness", "b_value_events", "b_value", "b_value_error"]

  @Test(arguments: ["ak", "us"]) func theBValueOfANetworkEqualsThatOfPython(
    network: String
  ) throws {
    let figures = try #require(
      try PythonReference.evaluate("b_value('\(network)')", on: Self.feed) as? [NSNumber])
    let statistics = try #require(try lines("stats", "--network", network).first)
    for (member, figure) in zip(Self.figures, figures) {
      #expect(isNear(statistics.double(member), figure), "\(statistics.text), \(figures)")
    }
    #expect(statistics.string("b_value_reason") == nil)
    let row = try database.column(
      """
      select unnest(array[b.completeness_magnitude, b.events, b.b, b.standard_error])
        from quake.b_value((
          select array_agg(magnitude) from quake.live where net = '\(network)' and type = 'earthquake')) b
      """)
    for (value, figure) in zip(row, figures) { #expect(isNear(Double(value), figure)) }
    #expect(row.count == 4)
  }

  @Test func aMixtureOfNetworksHasNoBValue() throws {
    let figures = try #require(
      try PythonReference.evaluate("b_value(None)[:2] + sums()", on: Self.feed) as? [NSNumber])
    let all = try #require(try lines("stats").first)
    for (member, figure) in zip(Self.figures.prefix(2) + ["energy", "moment"], figures) {
      #expect(isNear(all.double(member), figure), "\(member): \(all.text), \(figures)")
    }
    #expect(all.double("b_value") == nil && all.double("b_value_error") == nil)
    #expect(all.string("b_value_refusal") == "depends-on-cutoff")
    let reason = try #require(all.string("b_value_reason"))
    #expect(reason.contains("--network") && reason.contains("--completeness"), "\(reason)")
    // From the magnitude that the sentence names on, there is one.
    let named = try #require(reason.firstMatch(of: #/such as ([\d.]+)$/#)?.1)
    let strong = try #require(try lines("stats", "--completeness", String(named)).first)
    let mc = Int(((Double(named) ?? 0) * 10).rounded())
    let expected = try PythonReference.evaluate("b_value(None, \(mc))[2]", on: Self.feed)
    #expect(isNear(strong.double("b_value"), expected), "\(strong.text)")
    #expect(abs((strong.double("b_value") ?? 0) - 0.9) < 0.2)
  }

  /// Around the poles, across the 180th meridian, and all of the Earth but a part.
  @Test func circlesAndBoxesSelectTheEventsThatPythonSelects() throws {
    let circles = [
      "100,38.8,-122.8", "2500,-17,180", "1500,90,0", "5000,-89,12", "0.5,0,0", "20100,1,2",
    ]
    let boxes = ["-125,32,-114,42", "170,-50,-170,-10", "-180,-90,180,90", "179.9,50,-130,90"]
    let areas = circles.map { "circle(\($0))" } + boxes.map { "box(\($0))" }
    let value = try PythonReference.evaluate("[\(areas.joined(separator: ", "))]", on: Self.feed)
    let reference = try #require(value as? [[String]])
    for (area, expected) in zip(circles + boxes, reference) {
      let isCircle = circles.contains(area)
      let parts = area.split(separator: ",")
      let option = isCircle ? "--within=\(parts[0]):\(parts[1]),\(parts[2])" : "--bbox=\(area)"
      let codes = try lines("list", "--codes", option)
      #expect(codes.compactMap { $0.string("code") }.sorted() == expected, "\(area)")
      let call = isCircle ? "within(\(parts[1]), \(parts[2]), \(parts[0]))" : "in_box(\(area))"
      let sql = try database.column(
        "select code from quake.\(call) order by code collate \"C\"")
      #expect(sql == expected, "\(area)")
      if !isCircle { #expect(!expected.isEmpty) }
    }
  }

  @Test func filtersSelectTheEventsThatPythonSelects() throws {
    let filters: [(arguments: [String], condition: String)] = [
      (["--place", "CALIFORNIA"], "'california' in e['place'].lower()"),
      (["--place", "pāhala"], "'pāhala' in e['place'].lower()"),
      (
        ["--min-magnitude", "2", "--max-magnitude", "4.5"],
        "e['mag'] is not None and 2 <= e['mag'] <= 4.5"
      ),
      (["--min-depth", "0", "--max-depth", "10"], "0 <= e['depth'] <= 10"),
      (["--network", "ci,hv"], "e['net'] in ('ci', 'hv')"),
      (["--felt", "5"], "(e['felt'] or 0) >= 5"), (["--alert", "green"], "e['alert'] == 'green'"),
      (["--status", "Automatic"], "e['status'] == 'automatic'"),
      (
        ["--from", "2023-04-02", "--to", "2023-04-03T12:00:00Z"],
        "'2023-04-02' <= time(e).isoformat() < '2023-04-03T12:00:00'"
      ),
    ]
    let lists = filters.map { "sorted(e['code'] for e in events if \($0.condition))" }
    let value = try PythonReference.evaluate(
      "[\(lists.joined(separator: ", "))]", on: Self.feed)
    let reference = try #require(value as? [[String]])
    for ((arguments, _), expected) in zip(filters, reference) {
      #expect(!expected.isEmpty, "\(arguments)")
      let outcome = try database.run("quake-query", ["list", "--codes"] + arguments)
      #expect(outcome.lines.sorted() == expected, "\(arguments)")
    }
  }

  @Test func theViewsOfDaysAndTheMapEqualThoseOfPython() throws {
    let value = try PythonReference.evaluate(
      "groups(lambda e: time(e).strftime('%Y-%m-%d'))", on: Self.feed)
    let expected = try #require(value as? [String: [Any]])
    let days = try database.column("select day || ' ' || events from quake.daily order by day")
    #expect(days == expected.map { "\($0.key) \($0.value[0])" }.sorted())
    let count = try PythonReference.evaluate("len(events)", on: Self.feed)
    #expect(try database.count("quake.live") == (count as? NSNumber)?.intValue)
  }
}
