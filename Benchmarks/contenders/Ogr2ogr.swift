import Basics
import Postgres

/// GDAL's converter, which creates its own table. It cannot merge, so it loads everything again.
struct Ogr2ogr: Contender {
  let name = "ogr2ogr"
  let summary = "GDAL's ogr2ogr, loading everything again"
  let layout = Layout.own("ogr2ogr")
  let pace = Pace.slow
  let contents = Contents.statement(
    table: "public.quake", magnitude: "mag", time: "time", updated: "updated")

  func availability(_ bench: Bench) -> Availability {
    guard let path = SearchPath.find("ogr2ogr"),
      let version = bench.firstLine(of: path, ["--version"])
    else { return .absent(hint: "install GDAL's programs (on Debian: gdal-bin)") }
    return .present(version: version)
  }

  func command(
    loading file: DataFile, into database: String, _ bench: Bench
  ) throws -> ChildProcess {
    guard let path = SearchPath.find("ogr2ogr") else { throw BenchFailure("there is no ogr2ogr") }
    return bench.program(
      path,
      [
        "-f", "PostgreSQL", "PG:" + bench.server.conninfo(database), file.path, "-nln", "quake",
        "-overwrite", "-gt", "unlimited", "--config", "PG_USE_COPY", "YES",
        // No limit to the size of a JSON document, which it may hold in memory.
        "--config", "OGR_GEOJSON_MAX_OBJ_SIZE", "0",
      ])
  }
}
