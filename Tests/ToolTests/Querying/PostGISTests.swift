import Foundation
import TestSupport
import Testing

/// `quake-admin postgis`. Where the server has no PostGIS, only its error can be tested.
@Suite struct PostGISTests {
  private let database: TestDatabase
  private let hasPostGIS: Bool

  init() throws {
    database = try TestDatabase()
    hasPostGIS =
      try database.value("select count(*) from pg_available_extensions where name = 'postgis'")
      == "1"
  }

  private func postgis(_ word: String) throws -> ToolProcess.Outcome {
    try database.run("quake-admin", ["postgis", word])
  }

  @Test func aServerWithoutPostGISIsAnError() throws {
    guard !hasPostGIS else { return }
    try postgis("enable").expect(1, "the server has no PostGIS", "postgresql-N-postgis-3")
  }

  @Test func eventsArePointsThatFollowTheirEvents() throws {
    guard hasPostGIS else { return print("SKIPPED: the server has no PostGIS") }
    try database.psql(
      "insert into quake.quake (code, time, longitude, latitude) values ('a', now(), 179.5, -10), ('b', now(), null, null)"
    )
    try postgis("enable").expect(
      0, output: "the view quake.quake_point shows the events as points\n")
    #expect(try postgis("enable").output == "it was enabled already\n")
    try database.run("quake-admin", ["status"]).expect(0)
    #expect(
      try database.column(
        "select code || ' ' || public.st_asewkt(geom) from quake.quake_point")
        == ["a SRID=4326;POINT(179.5 -10)"])

    // Writers and the reading side know nothing of the column.
    let feed = try TemporaryFolder()
    try Tools.succeed(
      "quake-ingest", ["simulate", "--events", "50", "--output", feed.path + "/feed.geojson"])
    for expected in ["50", "0"] {
      let report = try database.succeed(
        "quake-ingest", ["import", feed.path + "/feed.geojson", "--json"])
      #expect(report.output.contains("\"inserted\":\(expected)"), "\(report.output)")
    }
    try database.psql("update quake.quake set latitude = 11 where code = 'a'")
    #expect(
      try database.value("select public.st_y(geom) from quake.quake_point where code = 'a'") == "11"
    )
    #expect(try database.count("quake.quake_point") == 51)
    #expect(try database.value("select count(*) from quake.as_of(quake.latest_token())") == "52")
    let versions = try database.run("quake-query", ["versions", "a"])
    #expect(versions.lines.count == 2, "\(versions.output)\(versions.errors)")
    #expect(
      try database.column("select changed::text from quake.versions('a') where op = 'update'")
        == ["{latitude}"])

    #expect(try postgis("disable").output == "removed the points\n")
    #expect(try postgis("disable").output == "it was not enabled\n")
    #expect(
      try database.value(
        "select count(*) from pg_attribute where attrelid = 'quake.quake'::regclass and attname = 'geom'"
      ) == "0")
  }

  /// A geometry that somebody made is theirs.
  @Test func aColumnOfOnesOwnIsNotTouched() throws {
    try database.psql("alter table quake.quake add column geom text")
    for word in ["enable", "disable"] {
      try postgis(word).expect(1, "has a column \"geom\" that is not Quake's")
    }
  }
}
