import Glibc
import TestSupport

/// Imports of a feed whose events change each time, by the built `quake-ingest`, some of them killed.
struct ImportWriter {
  let events: Int
  let changesIDs: Bool
  let conninfo: String
  let log: WriterLog
  var random = Seed.generator("import")
  let shouldStop: @Sendable () -> Bool

  mutating func run() throws {
    let folder = try TemporaryFolder()
    var round = 0
    while !shouldStop() {
      round += 1
      let file = try folder.write("feed.geojson", feed(round))
      let process = try Tools.start(
        "quake-ingest", ["import", "--json", "--database", conninfo, file])
      if round.isMultiple(of: 3) {
        let instant = Duration.milliseconds(Int.random(in: 20...200, using: &random))
        let ended = try? process.exit(within: instant)
        if ended == nil {
          process.signal(SIGKILL)
          _ = try process.exit()
        }
        // Killed, or failed because the server was: its commit may have drawn a number.
        if ended?.status != 0 { log.noteTermination() }
        continue
      }
      let outcome = try process.exit()
      if outcome.status == 0, let line = outcome.lines.first, let report = try? JSONLine(line) {
        let changes = (report.integer("inserted") ?? 0) + (report.integer("updated") ?? 0)
        log.note("import/\(round)", .committed, changes: changes)
      } else {
        log.noteTermination()
        poll(nil, 0, 50)
      }
    }
  }

  private func feed(_ round: Int) -> String {
    let features = (1...events).map { number in
      let network = changesIDs && (number + round) % 7 == 0 ? "in" : "im"
      let ids = changesIDs ? ",im\(number),in\(number)," : ",im\(number),"
      return """
        {"type":"Feature","id":"\(network)\(number)","properties":{"mag":\(Double((number + round) % 80) / 10),\
        "place":"\(number) km N of Nowhere","time":\(1_700_000_000_000 + number),"updated":\
        \(1_700_000_000_000 + round),"net":"\(network)","code":"\(number)","type":"earthquake","ids":"\(ids)"},\
        "geometry":{"type":"Point","coordinates":[\(number % 180),\(number % 90),10]}}
        """
    }
    return """
      {"type":"FeatureCollection","metadata":{"generated":\(1_700_000_000_000 + round * 1000),\
      "status":200,"count":\(events)},"features":[\(features.joined(separator: ","))]}
      """
  }
}
