import Foundation
import TestSupport
import Testing

/// Answers that look like a feed without events, or like no change, but are errors: none is taken for a snapshot.
@Suite struct ErrorAnswerTests {
  private static let error =
    #"{"type":"FeatureCollection","metadata":{"generated":1700000200000,"status":503,"#
    + #""error":"Service unavailable","count":0},"features":[]}"#

  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  private func ingest(_ arguments: String...) throws -> ToolProcess.Outcome {
    try Tools.run("quake-ingest", arguments + database.option)
  }

  @Test func snapshotsThatReportAnErrorWithdrawNothing() throws {
    let good = Feeds.collection(count: 3, magnitude: "5.5")
    for (time, text) in [("0000", good), ("0001", Self.error), ("0002", Self.error)] {
      _ = try folder.write("2.5_day_2023-11-14T\(time)Z.geojson", text)
    }
    let outcome = try ingest("replay", folder.path, "--withdraw-after", "1")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("is an error message of the service, not a feed"))
    #expect(outcome.errors.contains("It states the status 503. It says: Service unavailable"))
    #expect(outcome.errors.contains("replayed 1 of 3 snapshots, set 2 aside"))
    #expect(try database.count("quake.quake where withdrawn_at is null") == 3)
    #expect(
      try database.column(
        "select coalesce(quarantine_reason, 'good') from quake.import order by id limit 2")
        == ["good", "damaged"])
  }

  @Test func aFileThatReportsAnErrorIsNotImported() throws {
    let file = try folder.write("error.geojson", Self.error)
    for arguments in [
      ["import", file], ["backfill", folder.path], ["run", "--once", "--feed", file],
    ] {
      let outcome = try Tools.run("quake-ingest", arguments + database.option)
      #expect(outcome.status == 65, "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains("is an error message of the service, not a feed"))
    }
    #expect(try database.count("quake.import where quarantined_at is null") == 0)
    #expect(try database.count("quake.backfill_file") == 0)
  }

  @Test func aNotModifiedThatNothingAskedForIsAFailedPoll() throws {
    let server = try ScriptedServer(304, ["ETag: \"v1\""], body: [])
    for command in [["import", server.url], ["run", "--once", "--feed", server.url]] {
      let outcome = try Tools.run("quake-ingest", command + database.option)
      #expect(outcome.status == 69, "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains("HTTP status 304"))
    }
    #expect(
      try database.value(
        "select concat_ws(' ', failures, etag, succeeded_at, error like '%304%') from quake.feed")
        == "1 t")
  }
}
