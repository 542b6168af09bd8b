import Foundation
import TestSupport
import Testing

/// `quake-ingest backfill` against event services that limit their answers without saying so, or that say in their
/// own way that they have nothing. Each has 240 events, one every ten minutes from 1 November 2024 on.
@Suite final class OddServiceTests: ToolSuite {
  private static let first = Date(timeIntervalSince1970: 1_730_419_200)
  private static let header =
    "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|"
    + "Magnitude|MagAuthor|EventLocationName\n"

  /// How a service answers if nothing matches.
  enum NoData: String, CaseIterable, Sendable {
    case status, statusWithBody, notFound, notFoundWithoutWords, badRequest, empty, header, sentence
    case errorDocument
  }

  /// - Parameters:
  ///   - most: The events of one answer.
  ///   - counts: Whether the service counts.
  ///   - seconds: The time between two events.
  ///   - refuses: Whether it refuses a query of more events instead of cutting the answer off.
  private func service(
    most: Int, counts: Bool = false, noData: NoData = .status, every seconds: Double = 600,
    refuses: Bool = false
  ) throws -> ScriptedServer {
    try ScriptedServer { request, client in
      func time(_ name: String) -> Date {
        let text = request.target.components(separatedBy: name + "=").last?.prefix(19) ?? ""
        return (try? Date(text + "Z", strategy: .iso8601)) ?? .distantPast
      }
      if request.target.contains("/version") { return _ = client.answer(200, [], "1.2") }
      let (start, end) = (time("starttime"), time("endtime"))
      let numbers = (0..<240).filter {
        (start...end).contains(Self.first.addingTimeInterval(Double($0) * seconds))
      }
      if request.target.contains("/count?") {
        return _ = client.answer(counts ? 200 : 404, [], counts ? "\(numbers.count)" : "none")
      }
      if numbers.isEmpty { return Self.answer(noData, client) }
      if refuses, numbers.count > most { return _ = client.answer(413, [], "too many") }
      let rows = numbers.suffix(most).reversed().map { number in
        let time = Self.first.addingTimeInterval(Double(number) * seconds).formatted(.iso8601)
        return "\(number)|\(time.dropLast())|1|2|10|A|C|D|\(number)|ml|2.0|A|place\n"
      }
      client.answer(200, ["Content-Type: text/plain"], Self.header + rows.joined())
    }
  }

  private static func answer(_ noData: NoData, _ client: borrowing ScriptedServer.Client) {
    switch noData {
    case .status: client.answer(204, [], "")
    case .statusWithBody: client.answer(204, [], "Error 204: nothing")
    case .notFound: client.answer(404, [], "Error 404: no data")
    case .notFoundWithoutWords: client.answer(404, [], "<html>404</html>")
    case .badRequest: client.answer(400, [], "Error 400: no events")
    case .empty: client.answer(200, [], "")
    case .header: client.answer(200, [], header)
    case .sentence: client.answer(200, [], "No events were found.\n")
    case .errorDocument:
      client.answer(
        200, [], #"{"metadata":{"status":404,"error":"No data"},"features":[]}"#)
    }
  }

  private func backfill(
    _ server: ScriptedServer, _ from: String, _ to: String, _ more: [String] = []
  ) throws -> ToolProcess.Outcome {
    try database.run(
      "quake-ingest",
      [
        "backfill", "--url", "http://127.0.0.1:\(server.port)", "--source", "local", "--rate",
        "1000", "--from", from, "--to", to,
      ] + more)
  }

  @Test(arguments: NoData.allCases)
  func aWindowOfNothingIsDoneHoweverTheServiceSaysSo(noData: NoData) throws {
    let server = try service(most: 100, noData: noData)
    let outcome = try backfill(server, "2024-10-25", "2024-11-03", ["--attempts", "1"]).expect(
      0, printing: "is complete")
    #expect(!outcome.errors.contains("warning"), "\(outcome.errors)")
    #expect(try database.count("quake.quake") == 240)
    #expect(try database.count("quake.backfill_window where count = 0") > 0)
    #expect(try database.value("select bool_and(state = 'done') from quake.backfill_window") == "t")
  }

  /// The first query is refused, and the second in which there could be few events has none.
  @Test(arguments: NoData.allCases)
  func aRefusedSpanIsHalvedHoweverTheServiceSaysThatItHasNothing(noData: NoData) throws {
    let server = try service(most: 99, noData: noData, refuses: true)
    try backfill(server, "2024-10-25", "2024-11-03", ["--attempts", "1"]).expect(0)
    #expect(try database.count("quake.quake") == 240)
  }

  /// Without a version, "not found" is a wrong address. Text without a header is no feed.
  @Test(arguments: [
    (404, "<html>404</html>", "HTTP status 404"),
    (200, "1|2024-11-01T00:00:00|1|2|3|||||ml|2||here\n", "It is neither GeoJSON"),
  ])
  func whatIsNoEventServiceIsAnError(status: Int, text: String, words: String) throws {
    let server = try ScriptedServer { request, client in
      client.answer(request.target.contains("/query?") ? status : 404, [], text)
    }
    try backfill(server, "2024-10-25", "2024-11-03", ["--attempts", "1"]).expect(69, words)
    #expect(try database.value("select bool_or(state = 'done') from quake.backfill_window") == "f")
  }

  @Test func aLimitThatTheServiceDoesNotStateIsFoundByItsRoundNumber() throws {
    try backfill(service(most: 50), "2024-10-25", "2024-11-03", ["--verbose"]).expect(
      0, "may not be all, so it is halved")
    #expect(try database.count("quake.quake") == 240)
  }

  /// A window of a second cannot be halved.
  @Test func aLimitThatCutsOffASecondIsAWarning() throws {
    try backfill(service(most: 50, every: 0), "2024-10-31", "2024-11-02").expect(
      0, "may have cut off its answer to the window of one second from 2024-11-01T00:00:00Z")
    #expect(try database.count("quake.quake") == 50)
  }

  @Test func aLimitThatTheServiceDoesNotStateIsFoundByItsCount() throws {
    let server = try service(most: 100, counts: true)
    try backfill(server, "2024-10-25", "2024-11-03").expect(
      0, "sends no more than 100 events in one answer")
    #expect(try database.count("quake.quake") == 240)
    // Once known, the limit spares requests of windows with more events than that.
    let queries = server.requests.filter { $0.target.contains("/query?") }
    #expect(queries.count < 12)
  }

  /// An empty answer of a service that counts others is an accident.
  @Test func anEmptyAnswerThatTheCountContradictsIsRequestedAgain() throws {
    let server = try ScriptedServer { request, client in
      if request.target.contains("/count?") { return _ = client.answer(200, [], "1") }
      client.answer(
        200, [],
        request.number < 3 ? "" : Self.header + "1|2024-11-01T00:00:00|1|2|3|||||ml|2||here\n")
    }
    try backfill(server, "2024-11-01", "2024-11-02").expect(
      0, "warning: could not fetch the events")
    #expect(try database.count("quake.quake") == 1)
  }

  // MARK: - A region

  @Test(arguments: [
    ["--bbox", "140,-60,-140,70"],
    ["--within", "1500:36,-117", "--bbox", "-120,30,-110,42", "--min-magnitude", "1"],
  ])
  func onlyTheEventsOfARegionAreFetched(region: [String]) throws {
    let service = try SimulatedService(["--events", "400", "--days", "20"])
    let options = ["backfill", "--url", service.base, "--last", "21d", "--rate", "1000"]
    try database.succeed("quake-ingest", options + region)
    // The service was asked for no more than that.
    let queries = try service.requests().filter { $0.isQuery && !$0.target.contains("&limit=1&") }
    #expect(queries.allSatisfy { $0.target.contains("latitude=") })
    let all = try TestDatabase()
    try all.succeed("quake-ingest", options)
    #expect(try all.count("quake.quake") == 400)
    let expected = try all.run("quake-query", ["list", "--json", "--columns", "code"] + region)
    let stored = try database.run("quake-query", ["list", "--json", "--columns", "code"])
    #expect(stored.status == 0 && expected.status == 0, "\(expected.errors)")
    #expect(stored.output == expected.output && stored.lines.count > 5)
    #expect(stored.lines.count < 400)
    let named = ["--bbox", "--within"].compactMap { name in
      region.firstIndex(of: name).map { "\(name) \(region[$0 + 1])" }
    }
    #expect(
      try database.value("select region from quake.backfill") == named.joined(separator: " "))
  }
}
