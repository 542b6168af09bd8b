import Postgres
import QuakeModel
import QuakeQuery
import QuakeStore
import TestSupport
import Testing

/// The magnitude of completeness and the b-value, as a library and as the SQL function.
@Suite struct StatisticsTests {
  /// SQL of an array of magnitudes that follow the relation of Gutenberg and Richter exactly.
  private static func magnitudes(_ b: Double, from least: Double, _ count: Int) -> String {
    """
    array(select (\(least) + 0.1 * k)::numeric(4,1)::float8
            from generate_series(0, 60) k
           cross join lateral generate_series(
             1, round(\(count) * (10 ^ (-\(b) * k / 10.0) - 10 ^ (-\(b) * (k + 1) / 10.0)))::int))
    """
  }

  private static let single = magnitudes(1, from: 1, 3000)
  /// A regional catalogue with few large events, and the large events of the world.
  private static let mixture =
    magnitudes(0.9, from: 1, 3000) + " || " + magnitudes(1, from: 4.5, 500)

  private let database: LiveDatabase

  init() throws { database = try LiveDatabase() }

  private func row(_ magnitudes: String, _ more: String = "") throws -> [String] {
    try database.test.column(
      """
      select unnest(array[coalesce(completeness_magnitude::text, ''), events::text,
               coalesce(round(b::numeric, 3)::text, ''), coalesce(refusal, ''),
               coalesce(round(other_b::numeric, 1)::text, ''), coalesce(steady_from::text, '')])
        from quake.gutenberg_richter(\(magnitudes)\(more))
      """)
  }

  @Test func aSingleCatalogueHasABValue() throws {
    let curvature = try row(Self.single)
    #expect(curvature[0] == "1.2" && curvature[3] == "", "\(curvature)")
    #expect(abs((Double(curvature[2]) ?? 0) - 1) < 0.02, "\(curvature)")
    let stability = try row(Self.single, ", method => 'b-stability'")
    #expect(stability[0] == "1" && abs((Double(stability[2]) ?? 0) - 1) < 0.02, "\(stability)")
    let given = try row(Self.single, ", completeness => 1.5")
    #expect(given[0] == "1.5" && abs((Double(given[2]) ?? 0) - 1) < 0.03, "\(given)")
    // The function of before is the same.
    #expect(
      try database.test.value("select round(b::numeric, 3) from quake.b_value(\(Self.single))")
        == curvature[2])
  }

  @Test(arguments: ["", ", method => 'b-stability'", ", completeness => 2"])
  func aMixtureHasNone(more: String) throws {
    let row = try row(Self.mixture, more)
    #expect(row[2] == "" && row[3] == "depends-on-cutoff", "\(row)")
    #expect(row[4].hasPrefix("1.") || row[4] == "0.9", "\(row)")
    // From the magnitude that it names on, there is one.
    let steady = try #require(Double(row[5]))
    #expect(steady > 3 && steady <= 4.5)
    let again = try self.row(Self.mixture, ", completeness => \(row[5])")
    #expect(again[3] == "" && abs((Double(again[2]) ?? 0) - 1) < 0.1, "\(again)")
  }

  @Test func fewOrEqualEventsHaveNone() throws {
    let few = try row("array(select m from unnest(\(Self.single)) m order by m desc limit 49)")
    #expect(few[2] == "" && few[3] == "few-events", "\(few)")
    let equal = try row("array_fill(3::float8, array[100])", ", completeness => 3")
    #expect(equal[1] == "100" && equal[2] == "" && equal[3] == "one-class")
    #expect(try row("array[1.0, null, 'NaN', 'Infinity', 99]::float8[]")[1] == "0")
    #expect(try row("'{}'").isEmpty)
    let short = try row("array_fill(3::float8, array[100])", ", method => 'b-stability'")
    #expect(short[0] == "" && short[3] == "no-stable-cutoff")
  }

  @Test(arguments: [", bin => 0", ", bin => 2", ", bin => 'NaN'", ", method => 'guess'"])
  func wrongArgumentsAreErrors(more: String) {
    #expect(throws: (any Error).self) { try row(Self.single, more) }
  }

  @Test func onlyEarthquakesCountUnlessTypesAreAskedFor() async throws {
    try database.test.psql(
      """
      insert into quake.quake (code, type, magnitude, time, place)
      select 'e' || i, case when i % 3 = 0 then null when i % 3 = 1 then 'Earthquake' else 'earthquake' end,
             m, now(), 'Town, Land'
        from unnest(\(Self.single)) with ordinality u (m, i);
      insert into quake.quake (code, type, magnitude, time, place)
      select 'q' || i, 'quarry blast', 1.4, now(), 'Pit, Land' from generate_series(1, 2000) i
      """)
    let live = database.live
    let total = try await live.count(EventQuery())
    let plain = try await live.statistics(EventQuery())
    #expect(plain.otherEvents == 2000 && plain.summary.count == total - 2000)
    #expect(plain.bValue?.completeness == 1.2 && plain.bValue?.refusal == nil)
    #expect(plain.bValue?.method == .maximumCurvature)
    let every = try await live.statistics(EventQuery(), everyType: true)
    #expect(every.otherEvents == 0 && every.summary.count == total)
    #expect(every.bValue?.completeness == 1.6)
    var blasts = EventQuery()
    blasts.filter.types = ["quarry blast"]
    let asked = try await live.statistics(blasts)
    #expect(asked.summary.count == 2000 && asked.otherEvents == 0)
    #expect(
      try await live.groups(EventQuery(), by: .type).map(\.summary.count).reduce(0, +) == total)
    #expect(
      try await live.groups(EventQuery(), by: .place).map(\.summary.count) == [total - 2000])
    #expect(try await live.groups(EventQuery(), by: .place, everyType: true).count == 2)
  }

  /// A window of about a month is asked for in two halves.
  @Test(arguments: [1, 20, 30, 40, 400])
  func aWindowHasItsBeginningAndNotItsEnd(days: Int64) async throws {
    let start = Timestamp(microseconds: 1_700_000_000_000_001)
    let length = days * 86_400_000_000
    let connection = try database.test.connect()
    for offset in [-1, 0, length / 2 - 1, length / 2, length - 1, length] {
      try connection.run(
        """
        insert into quake.quake (code, magnitude, time)
        values ('e\(offset)', 1, '\(Timestamp(microseconds: start.microseconds + offset))')
        """)
    }
    var filter = EventFilter()
    (filter.earliestTime, filter.endTime) =
      (start, Timestamp(microseconds: start.microseconds + length))
    #expect(try await database.live.statistics(EventQuery(filter)).summary.count == 4)
    let groups = try await database.live.groups(EventQuery(filter), by: .type)
    #expect(groups.map(\.summary.count) == [4])
  }

  @Test func theClassesOfGroupsAreThoseOfTheBValue() async throws {
    let values = [0.95, 1.0, 1.04, 1.05, 1.25, -0.05, -0.15, 0.04, 2.35, 4.96]
    try database.test.psql(
      """
      insert into quake.quake (code, magnitude, time)
      select 'e' || i, m, now() from unnest(array\(values)) with ordinality u (m, i);
      insert into quake.quake (code, time) values ('none', now())
      """)
    let groups = try await database.live.groups(
      EventQuery(), by: .magnitude(classWidth: 0.1))
    let keys = groups.map { group -> Double? in
      if case .number(let number) = group.key { number } else { nil }
    }
    #expect(keys == [-0.1, 0, 1, 1.1, 1.3, 2.4, 5, nil])
    #expect(groups.map(\.summary.count) == [1, 2, 3, 1, 1, 1, 1, 1])
    #expect(groups.map(\.cumulative) == [10, 9, 7, 4, 3, 2, 1, nil])
    for (completeness, events) in [(1.1, 4), (1.0, 7), (5.0, 1)] {
      let statistics = try await database.live.statistics(
        EventQuery(), completeness: .magnitude(completeness))
      #expect(statistics.bValue?.events == Int64(events))
    }
    let wide = try await database.live.groups(EventQuery(), by: .magnitude(classWidth: 1))
    #expect(wide.map(\.summary.count) == [1, 2, 5, 1, 1, 1])
    #expect(wide.map(\.cumulative) == [10, 9, 7, 2, 1, nil])
    // Whole classes of 0.1 would be unequal.
    let quarters = try await database.live.groups(
      EventQuery(), by: .magnitude(classWidth: 0.25))
    #expect(
      quarters.map(\.key).dropLast() == [-0.25, 0, 0.75, 1, 1.25, 2.25, 4.75].map { .number($0) })
    #expect(quarters.map(\.summary.count) == [2, 1, 1, 3, 1, 1, 1, 1])
  }
}
