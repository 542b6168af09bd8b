import Foundation
import TestSupport
import Testing

/// Programs of others read the event service and the feeds.
@Suite struct ServiceClientTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  private func python(_ arguments: [String]) throws -> ToolProcess.Outcome {
    let script = Tools.package + "/Tests/ToolTests/Readers/read_services.py"
    let words = ([Clients.python ?? "", script] + arguments).map { "'\($0)'" }
    // Some of these programs make folders in the home folder.
    return try Tools.startShell(words.joined(separator: " "), environment: ["HOME": folder.path])
      .exit(within: .seconds(900))
  }

  @Test(
    .enabled(if: Clients.python != nil, "\(Clients.isMissing)"),
    .enabled(if: Feeds.hasReal, "there are no real feeds"))
  func clientsReadTheCatalogueThatWasImported() throws {
    let feed = folder.path + "/all_day.geojson"
    let source = Feeds.realFolder + "/usgs/usgs_all_day_2019-11-21T1802Z.geojson"
    try #require(try python(["shift", source, feed]).status == 0)
    try Tools.succeed("quake-ingest", ["import"] + database.option + [feed])
    let codes = try database.column(
      "select code from quake.current_quake order by magnitude, code limit 2")
    let (withdrawn, old) = (codes[0], codes[1])
    let new = try database.value(
      "select code from quake.current_quake order by magnitude desc nulls last, code limit 1")
    try database.psql(
      """
      update quake.quake set withdrawn_at = now() where code = '\(withdrawn)';
      update quake.quake set superseded_by = '\(new)' where code = '\(old)';
      insert into quake.quake_alias (id, code) values ('\(old)', '\(new)');
      """)
    let server = try ServerProcess(database)
    let read = try python(["read", server.url, feed, withdrawn, old, new])
    #expect(read.status == 0, "\(read.errors)")
    for client in [
      "ObsPy ", "ObsPy filters", "usgs-libcomcat", "aio-geojson-usgs-earthquakes",
      "aio-geojson-generic-client",
      "aio-quakeml-ingv", "quakefeeds",
      "GDAL ", "GDAL feed", "pandas", "ObsPy text",
    ] {
      #expect(read.lines.contains { $0.hasPrefix(client) }, "\(client) did not finish")
    }
    try server.stop()
  }
}
