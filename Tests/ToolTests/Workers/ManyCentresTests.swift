import Foundation
import TestSupport
import Testing

/// One worker that polls many event services, some of which are slow, broken or lie.
@Suite(.enabled(if: Tools.isSoak, "make soak has it")) final class ManyCentresTests: ToolSuite {
  /// The centres that do not do what they should, by number.
  private static let (slow, broken, lying) = (0, 1, 2)

  /// FDSN text with five events of a centre.
  private static func body(of centre: Int) -> [UInt8] {
    let header =
      "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|"
      + "MagType|Magnitude|MagAuthor|EventLocationName\n"
    let latitude = centre == lying ? "-41.9" : "41.9"
    let rows = (1...5).map { number in
      "\(centre)-\(number)|2026-11-01T00:00:0\(number)|\(latitude)|12.5|8.1|me|c|c|\(number)|ML|2.5|me|Here\n"
    }
    return Array((header + rows.joined()).utf8)
  }

  /// A server whose path begins with the number of a centre.
  private func server(centres: Int) throws -> ScriptedServer {
    let bodies = (0..<centres).map { Self.body(of: $0) }
    return try ScriptedServer { request, client in
      let centre = request.target.split(separator: "/").first.flatMap { Int($0) } ?? 0
      switch centre {
      case Self.slow:
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        client.drip([0x23], every: 50)
      case Self.broken: client.answer(500, [], "")
      default: client.answer(200, [], bodies[centre])
      }
    }
  }

  private func configuration(_ server: ScriptedServer, centres: Int, every: Duration) throws
    -> String
  {
    let sections = (0..<centres).map { centre in
      """
      [feed centre-\(centre)]
      url = http://127.0.0.1:\(server.port)/\(centre)/fdsnws/event/1/query?format=text
      minmagnitude = 2
      source = centre-\(centre)
      region = 6,35,19,48
      download-timeout = \(centre == Self.slow ? "3s" : "60s")
      """
    }
    return try folder.write(
      "q.conf", "every = \(Int(every / .milliseconds(1)))ms\n" + sections.joined(separator: "\n\n"))
  }

  /// How often each centre was asked, and the pauses between two requests of the same good centre.
  private func pauses(_ server: ScriptedServer) -> [Int: [Duration]] {
    var last: [Int: ContinuousClock.Instant] = [:]
    var pauses: [Int: [Duration]] = [:]
    for request in server.requests {
      let centre = request.target.split(separator: "/").first.flatMap { Int($0) } ?? 0
      if let before = last[centre] {
        pauses[centre, default: []].append(request.arrived - before)
      }
      last[centre] = request.arrived
    }
    return pauses
  }

  @Test func aSlowABrokenAndALyingCentreDelayNoOther() throws {
    let centres = 100
    let every: Duration = .seconds(10)
    let server = try server(centres: centres)
    let worker = try database.start(
      "quake-ingest",
      ["run", "--quiet", "--config", configuration(server, centres: centres, every: every)])
    let good = (0..<centres).filter { ![Self.slow, Self.broken, Self.lying].contains($0) }
    try eventually("each good centre was asked three times", within: .seconds(300)) {
      worker.takeIn()
      let pauses = self.pauses(server)
      return good.allSatisfy { (pauses[$0]?.count ?? 0) >= 2 }
    }
    let all = good.flatMap { self.pauses(server)[$0] ?? [] }.sorted()
    let median = all[all.count / 2]
    print(
      "many centres: \(centres) with an interval of \(every); pauses: median \(median), longest",
      "\(all[all.count - 1]), shortest \(all[0])")
    #expect(median >= every && median <= every * 1.1, "\(all)")
    try eventually("the three others have failed") {
      worker.takeIn()
      return try database.value("select count(*) from quake.feed where failures > 0") == "3"
    }
    #expect(try database.count("quake.quake") == 5 * good.count)

    let list = try database.run("quake-admin", ["feeds", "list"])
    #expect(
      list.lines.first == "\(centres) feeds: \(good.count) in order, 3 failing", "\(list.output)")
    let status = try database.run("quake-admin", ["status", "--max-lag", "1h"])
    #expect(status.lines.first?.contains("\(centres) feeds: ") == true, "\(status.output)")
    // Only the feeds that are not in order have lines of their own.
    #expect(status.output.contains("centre-1 ") && !status.output.contains("centre-9 "))
    #expect(status.lines.count < 60, "\(status.output)")
    try worker.end()
  }
}
