import TestSupport
import Testing

/// Messages about a body that cannot be read, and how it leaves the quarantine.
@Suite struct QuarantineTests {
  @Test func anUnreadableBodyIsReportedAndCannotBeApplied() throws {
    let database = try TestDatabase()
    let server = try ScriptedServer(
      200, body: Array(#"{"type":"FeatureCollection","features":[{"type":"Feature","#.utf8))
    let run = try Tools.run(
      "quake-ingest",
      ["run", "--once", "--feed", "http://127.0.0.1:\(server.port)/summary/all_day.geojson"]
        + database.option)
    #expect(run.status == 65, "\(run.errors)")
    #expect(
      run.errors.contains(#"hint: Its body is in quarantine; see "quake-admin imports", import 1."#)
    )
    // With --once there is no next attempt.
    #expect(!run.errors.contains("Next attempt"))
    let apply = try Tools.run("quake-admin", ["imports", "apply", "1"] + database.option)
    #expect(apply.status == 65, "\(apply.errors)")
    #expect(apply.errors.hasPrefix("quake-admin: error: could not read the body of import 1\n"))
    #expect(apply.errors.contains("  detail: "))
    #expect(apply.errors.contains("quake-admin imports discard 1"))
    #expect(!apply.errors.contains("DETAIL:"))
    try Tools.succeed("quake-admin", ["imports", "discard", "1"] + database.option)
  }
}
