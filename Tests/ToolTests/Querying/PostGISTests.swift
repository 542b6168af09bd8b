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
    try Tools.run("quake-admin", ["postgis", word] + database.option)
  }

  @Test func aServerWithoutPostGISIsAnError() throws {
    guard !hasPostGIS else { return }
    let outcome = try postgis("enable")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("the server has no PostGIS"))
    #expect(outcome.errors.contains("postgresql-N-postgis-3"))
  }

  @Test func eventsArePointsThatFollowTheirEvents() throws {
    guard hasPostGIS else { return print("SKIPPED: the server has no PostGIS") }
    try database.psql(
      "insert into quake.quake (code, time, longitude, latitude) values ('a', now(), 179.5, -10), ('b', now(), null, null)"
    )
    let enabled = try postgis("enable")
    #expect(enabled.status == 0, "\(enabled.errors)")
    #expect(enabled.output == "the view quake.quake_point shows the events as points\n")
    #expect(try postgis("enable").output == "it was enabled already\n")
    let status = try Tools.run("quake-admin", ["status"] + database.option)
    #expect(status.status == 0, "\(status.errors)")
    #expect(
      try database.column(
        "select code || ' ' || public.st_asewkt(geom) from quake.quake_point")
        == ["a SRID=4326;POINT(179.5 -10)"])

    // Writers and the reading side know nothing of the column.
    let feed = try TemporaryFolder()
    try Tools.succeed(
      "quake-ingest", ["simulate", "--events", "50", "--output", feed.path + "/feed.geojson"])
    for expected in ["50", "0"] {
      let report = try Tools.succeed(
        "quake-ingest", ["import", feed.path + "/feed.geojson", "--json"] + database.option)
      #expect(report.output.contains("\"inserted\":\(expected)"), "\(report.output)")
    }
    try database.psql("update quake.quake set latitude = 11 where code = 'a'")
    #expect(
      try database.value("select public.st_y(geom) from quake.quake_point where code = 'a'") == "11"
    )
    #expect(try database.count("quake.quake_point") == 51)
    #expect(try database.value("select count(*) from quake.as_of(quake.latest_token())") == "52")
    let versions = try Tools.run("quake-query", ["versions", "a"] + database.option)
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
      let outcome = try postgis(word)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("has a column \"geom\" that is not Quake's"))
    }
  }
}
