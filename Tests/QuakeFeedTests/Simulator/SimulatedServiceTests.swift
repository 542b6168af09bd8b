import Testing

@testable import QuakeSimulator

/// The simulator's FDSN event service.
@Suite struct SimulatedServiceTests {
  private let query = "/fdsnws/event/1/query?orderby=time-asc"
  private let count = "/fdsnws/event/1/count"

  @Test func textHasTheEventsOfGeoJSON() throws {
    let server = try SimulatedFeedServer(frozen())
    defer { server.stop() }
    let text = try HTTPClient.get(query + "&format=text", port: server.port)
    #expect(text.headers["content-type"] == "text/plain; charset=utf-8")
    let lines = text.text.split(separator: "\n")
    #expect(
      lines.first.map(String.init)
        == "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID"
        + "|MagType|Magnitude|MagAuthor|EventLocationName|EventType")
    let rows = lines.dropFirst().map {
      $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
    let body = try HTTPClient.get(query + "&format=geojson", port: server.port).body
    let features = try JSONValue(body)["features"]?.elements ?? []
    #expect(rows.count == features.count && rows.count > 700)
    for (row, feature) in zip(rows, features) {
      try #require(row.count == 14)
      let coordinates = feature["geometry"]?["coordinates"]?.elements ?? []
      #expect(row[0] == feature["id"]?.text && row[0] == row[5] + row[8])
      #expect(row[6] == "simulated")
      #expect(!row[1].hasSuffix("Z") && row[1].contains("T"))
      #expect(Double(row[2]) == coordinates[1].number)
      #expect(Double(row[3]) == coordinates[0].number)
      #expect(Double(row[4]) == coordinates[2].number)
      #expect(row[5] == feature["properties"]?["net"]?.text)
      #expect(row[9] == feature["properties"]?["magType"]?.text ?? "")
      #expect(Double(row[10]) == feature["properties"]?["mag"]?.number)
      #expect(row[12] == feature["properties"]?["place"]?.text)
      #expect(row[13] == feature["properties"]?["type"]?.text)
    }
  }

  @Test func aServiceMayHaveASmallerLimitAndNoCounts() throws {
    var options = frozen()
    options.queryLimit = 100
    options.answersCounts = false
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    let refused = try HTTPClient.get(query, port: server.port)
    #expect(refused.status == 400)
    #expect(refused.text.contains("exceeds search limit of 100."))
    #expect(try HTTPClient.get(query + "&limit=101", port: server.port).status == 400)
    let page = try HTTPClient.get(query + "&limit=100&format=text", port: server.port)
    #expect(page.text.split(separator: "\n").count == 101)
    #expect(try HTTPClient.get(count, port: server.port).status == 404)
  }

  @Test func aServiceMayRefuseTheLimitParameter() throws {
    var options = frozen()
    options.takesLimit = false
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    let refused = try HTTPClient.get(query + "&limit=5", port: server.port)
    #expect(refused.status == 400 && refused.text.contains("is not supported"))
    #expect(try HTTPClient.get(query, port: server.port).status == 200)
  }

  @Test func theCatalogueMayCoverTenYears() throws {
    var options = frozen()
    options.days = 3650
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    func count(_ arguments: String) throws -> Int? {
      Int(try HTTPClient.get(self.count + "?starttime=" + arguments, port: server.port).text)
    }
    #expect(try count("1900-01-01") == 800)
    let old = try #require(try count("1900-01-01&endtime=2021-03-01"))
    #expect((200...500).contains(old), "half of them are older than five years: \(old)")
  }

  @Test func countsFailLikeQueriesAndAllRequestsAreLogged() throws {
    var options = frozen()
    options.faults = [ScheduledFault(.unavailable, every: 2), ScheduledFault(.short, every: 3)]
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    let targets = [count, count + "?minmagnitude=3", query + "&format=text", query + "&limit=0"]
    for target in targets { _ = try HTTPClient.get(target, port: server.port) }
    _ = try HTTPClient.get("/state", port: server.port)
    let log = try JSONValue(HTTPClient.get("/requests", port: server.port).body).elements
    #expect(log.compactMap { $0["target"]?.text } == targets)
    #expect(log.compactMap { $0["status"]?.number } == [200, 503, 200, 400])
    #expect(log.map { $0["fault"]?.text } == [nil, "503", "short", nil])
    #expect(log.allSatisfy { $0["time"]?.number == Double(noon.milliseconds) })
  }

  @Test func optionsAreChecked() {
    for change in [
      { $0.days = 0 }, { $0.days = 40_000 }, { $0.queryLimit = 0 }, { $0.queryLimit = 20_001 },
    ] as [(inout SimulatorOptions) -> Void] {
      var options = frozen()
      change(&options)
      #expect(throws: SimulatorError.self) { try SimulatedFeedServer(options) }
    }
  }
}
