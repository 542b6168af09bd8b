import Foundation
import TestSupport
import Testing

/// The largest answer of the event service, compared with `psql` that copies the same rows.
@Suite struct ServiceSpeedTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    let feed = folder.path + "/feed.geojson"
    try Tools.succeed("quake-ingest", ["simulate", "--events", "20000", "--output", feed])
    try Tools.succeed("quake-ingest", ["import"] + database.option + [feed])
    try database.psql("analyze quake.quake;")
  }

  private func seconds(_ body: () throws -> Void) throws -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  @Test(.enabled(if: Tools.isSoak, "a measurement, for a machine with nothing else to do"))
  func twentyThousandEventsTakeLittleLongerThanACopy() throws {
    let server = try ServerProcess(database)
    let path = "/fdsnws/event/1/query?format=geojson&limit=20000&starttime=1900-01-01T00:00:00"
    let copied = folder.path + "/copied"
    let served = folder.path + "/served"
    var copies: [Double] = []
    var answers: [Double] = []
    for round in 1...15 {
      copies.append(
        try seconds {
          try database.psql(
            "\\copy (select q.* from quake.current_quake q order by q.time desc limit 20000) to '\(copied)'"
          )
        })
      answers.append(
        try seconds {
          // Another address each time, because the server keeps answers.
          let outcome = try Tools.shell("curl -fs -o '\(served)' '\(server.url)\(path).\(round)'")
          #expect(outcome.status == 0)
        })
    }
    let (copy, answer) = (copies.sorted()[7], answers.sorted()[7])
    print(
      "20,000 events: copied in \(copy) s, served in \(answer) s: \(answer / copy) times as long")
    #expect(answer <= 1.5 * copy)
    let document = try String(contentsOfFile: served, encoding: .utf8)
    #expect(document.contains("\"count\":20000"))
    try server.stop()
  }

  @Test func memoryDoesNotDependOnTheAnswer() throws {
    let server = try ServerProcess(database)
    _ = try server.get("/fdsnws/event/1/query?format=geojson&limit=20")
    let before = try ProcessMemory.peak(of: server.process.pid)
    for format in ["geojson", "quakeml", "csv", "kml", "text"] {
      let answer = try server.get(
        "/fdsnws/event/1/query?format=\(format)&limit=20000&starttime=1900-01-01")
      #expect(answer.status == 200)
      #expect(answer.body.count > 1_000_000, "\(format)")
    }
    #expect(try ProcessMemory.peak(of: server.process.pid) - before < 8_000, "\(before) kB before")
    try server.stop()
  }
}
