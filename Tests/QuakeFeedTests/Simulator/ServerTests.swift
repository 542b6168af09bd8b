import Glibc
import QuakeModel
import Synchronization
import Testing

@testable import QuakeSimulator

/// Options with a fixed clock and a catalogue that does not change.
func frozen(events: Int = 800) -> SimulatorOptions {
  var options = SimulatorOptions()
  options.events = events
  options.rate = 0
  options.now = { noon }
  return options
}

private let summary = "/earthquakes/feed/v1.0/summary/"
private let day = summary + "all_day.geojson"

/// The features of a document.
private func features(_ bytes: [UInt8]) throws -> [JSONValue] {
  try JSONValue(bytes)["features"]?.elements ?? []
}

/// Serialized, because each test has a server with a thread.
@Suite(.serialized) struct ServerTests {
  @Test func theTwentyFeedsAreServed() throws {
    let server = try SimulatedFeedServer(frozen())
    defer { server.stop() }
    for feed in SummaryFeed.all {
      let reply = try HTTPClient.get("\(summary)\(feed.name).geojson", port: server.port)
      #expect(reply.status == 200)
      #expect(reply.headers["content-type"] == "application/json; charset=utf-8")
      let document = try JSONValue(reply.body)
      let elements = try features(reply.body)
      #expect(document["metadata"]?["count"]?.number == Double(elements.count))
      #expect(document["metadata"]?["title"]?.text == "Simulated \(feed.subject)")
      #expect(document["metadata"]?["url"]?.text == server.url(of: feed))
      #expect(document["metadata"]?["generated"]?.number == Double(noon.milliseconds))
      #expect((document["bbox"] == nil) == (elements.count < 2))
      #expect(reply.body.count { $0 == 0x0A } == max(0, elements.count - 1))
      let times = elements.compactMap { $0["properties"]?["time"]?.number }
      #expect(times == times.sorted(by: >))
    }
    let missing = try HTTPClient.get(summary + "all_year.geojson", port: server.port)
    #expect(missing.status == 404)
  }

  @Test func featuresHaveTheShapeOfUSGS() throws {
    let server = try SimulatedFeedServer(frozen())
    defer { server.stop() }
    let names: Set<String> = [
      "mag", "place", "time", "updated", "tz", "url", "detail", "felt", "cdi", "mmi", "alert",
      "status", "tsunami", "sig", "net", "code", "ids", "sources", "types", "nst", "dmin", "rms",
      "gap", "magType", "type", "title",
    ]
    let all = try HTTPClient.get("/catalogue.geojson", port: server.port)
    for feature in try features(all.body) {
      guard let properties = feature["properties"], let id = feature["id"]?.text,
        let net = properties["net"]?.text, let code = properties["code"]?.text,
        let ids = properties["ids"]?.text, let detail = properties["detail"]?.text
      else {
        Issue.record("not a feature: \(feature)")
        continue
      }
      #expect(properties.names == names)
      #expect(id == net + code)
      #expect(net.hasPrefix("sim"))
      #expect(properties["place"]?.text?.hasPrefix("Simulated: ") == true)
      #expect(properties["title"]?.text?.contains(" - Simulated: ") == true)
      #expect(ids.contains(",\(id),") && ids.hasPrefix(",") && ids.hasSuffix(","))
      #expect(detail == "http://simulated.invalid/earthquakes/feed/v1.0/detail/\(id).geojson")
      #expect(properties["sources"]?.text?.contains(",\(net),") == true)
      #expect(properties["types"]?.text?.contains(",origin,") == true)
    }
  }

  @Test func conditionalRequestsAreAnsweredWith304UntilAnEventChanges() throws {
    let clock = Mutex(noon)
    var options = frozen()
    options.rate = 60
    options.now = { clock.withLock { $0 } }
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    let first = try HTTPClient.get(day, port: server.port)
    let tag = try #require(first.headers["etag"])
    #expect(first.headers["last-modified"] == "Sun, 01 Mar 2026 12:00:00 GMT")
    #expect(first.headers["date"] == "Sun, 01 Mar 2026 12:00:00 GMT")
    #expect(first.headers["expires"] == "Sun, 01 Mar 2026 12:01:00 GMT")
    #expect(first.headers["cache-control"] == "public, max-age=60")
    let same = try HTTPClient.get(day, port: server.port, ["If-None-Match: \(tag)"])
    #expect(same.status == 304 && same.body.isEmpty && same.headers["etag"] == tag)
    let weak = try HTTPClient.get(day, port: server.port, ["If-None-Match: \"x\", W/\(tag)"])
    #expect(weak.status == 304)
    let since = try HTTPClient.get(
      day, port: server.port, ["If-Modified-Since: Sun, 01 Mar 2026 12:00:00 GMT"])
    #expect(since.status == 304)
    let older = try HTTPClient.get(
      day, port: server.port, ["If-Modified-Since: Sun, 01 Mar 2026 11:59:59 GMT"])
    #expect(older.status == 200)
    clock.withLock { $0.microseconds += 600 * 1_000_000 }
    let changed = try HTTPClient.get(day, port: server.port, ["If-None-Match: \(tag)"])
    #expect(changed.status == 200 && changed.headers["etag"] != tag)
  }

  @Test func bodiesAreCompressedIfTheClientAcceptsGzip() throws {
    let server = try SimulatedFeedServer(frozen())
    defer { server.stop() }
    let plain = try HTTPClient.get(day, port: server.port)
    #expect(plain.headers["content-encoding"] == nil)
    let packed = try HTTPClient.get(
      day, port: server.port, ["Accept-Encoding: deflate, gzip;q=0.8"])
    #expect(packed.headers["content-encoding"] == "gzip" && packed.isComplete)
    #expect(packed.headers["vary"] == "Accept-Encoding")
    #expect(packed.body.count < plain.body.count / 3)
    let unpacked = gunzip(packed.body)
    #expect(unpacked.isComplete && unpacked.bytes == plain.body)
    let refused = try HTTPClient.get(
      day, port: server.port, ["Accept-Encoding: gzip;q=0, identity"])
    #expect(refused.headers["content-encoding"] == nil && refused.body == plain.body)
  }

  @Test func theCatalogueChangesWithTheClockAndDocumentsExpire() throws {
    let clock = Mutex(noon)
    var options = frozen()
    options.rate = 60
    options.maxAge = 10
    options.now = { clock.withLock { $0 } }
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    func advance(seconds: Int64) { clock.withLock { $0.microseconds += seconds * 1_000_000 } }
    let first = try HTTPClient.get(day, port: server.port)
    advance(seconds: 5)
    #expect(try HTTPClient.get(day, port: server.port).body == first.body)
    advance(seconds: 595)
    let later = try HTTPClient.get(day, port: server.port)
    #expect(later.body != first.body)
    let state = try JSONValue(HTTPClient.get("/state", port: server.port).body)
    let steps = state["steps"]?.number ?? 0
    #expect((500...700).contains(steps), "about 600 steps expected, not \(steps)")

    // The catalogue does not depend on the number of requests.
    let late = Mutex(noon)
    options.now = { late.withLock { $0 } }
    let other = try SimulatedFeedServer(options)
    defer { other.stop() }
    late.withLock { $0.microseconds += 600 * 1_000_000 }
    #expect(rendered(other.catalogue) == rendered(server.catalogue))
  }

  @Test func queriesAreAnswered() throws {
    let server = try SimulatedFeedServer(frozen(events: 21_000))
    defer { server.stop() }
    let query = "/fdsnws/event/1/query?format=geojson"
    func get(_ target: String) throws -> HTTPReply {
      try HTTPClient.get(target, port: server.port)
    }
    let tooMany = try get(query)
    #expect(tooMany.status == 400)
    #expect(tooMany.text.contains("matching events exceeds search limit of 20000."))
    let count = try get("/fdsnws/event/1/count?minmagnitude=2.5")
    let strong = try get(query + "&minmagnitude=2.5")
    #expect(try features(strong.body).count == Int(count.text))
    let page = try features(get(query + "&minmagnitude=2.5&limit=10").body)
    #expect(page == Array(try features(strong.body)[..<10]))
    let ascending = try features(
      get(query + "&minmagnitude=2.5&orderby=time-asc&limit=5").body)
    #expect(ascending == Array(try features(strong.body).reversed().prefix(5)))
    let window = try get(
      "/fdsnws/event/1/query?format=text&starttime=2026-02-20&endtime=2026-02-21T00:00:00")
    let rows = window.text.split(separator: "\n").dropFirst()
    #expect(rows.count > 300 && rows.allSatisfy { $0.contains("|2026-02-20T") })
    let nothing = try get(query + "&minmagnitude=9.9")
    #expect(nothing.status == 204 && nothing.body.isEmpty)
    for bad in ["&limit=20001", "&starttime=yesterday", "&minmagnitude=big", "&colour=red"] {
      let reply = try get(query + bad)
      #expect(reply.status == 400 && reply.text.hasPrefix("Error 400: Bad Request"))
    }
  }

  @Test func invalidRequestsAreRefused() throws {
    let server = try SimulatedFeedServer(frozen(events: 10))
    defer { server.stop() }
    func status(_ method: String, _ target: String) throws -> Int {
      try HTTPClient.request(method, target, port: server.port).status
    }
    #expect(try status("POST", "/fault?kind=flood") == 400)
    #expect(try status("POST", "/fault?kind=half&count=-1") == 400)
    #expect(try status("POST", day) == 405)
    #expect(try status("DELETE", "/") == 405)
    #expect(try status("GET", "/nowhere") == 404)
    #expect(try status("GET", "/") == 200)
    let head = try HTTPClient.request("HEAD", day, port: server.port)
    #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] != nil)

    var options = frozen(events: 10)
    options.port = server.port
    do {
      try SimulatedFeedServer(options).stop()
      Issue.record("two servers listen on one port")
    } catch {
      #expect(
        error.message
          == "could not listen on 127.0.0.1 port \(server.port): Address already in use")
      #expect(error.hint == "Choose another port, or 0 for any that is free.")
    }
    options.port = 70_000
    #expect(throws: SimulatorError.self) { try SimulatedFeedServer(options) }
    options.port = 0
    options.events = 200_001
    #expect(throws: SimulatorError.self) { try SimulatedFeedServer(options) }
    options.events = 10
    options.rate = -1
    #expect(throws: SimulatorError.self) { try SimulatedFeedServer(options) }
  }

  @Test func startAndStopLeaveNoDescriptorOpen() throws {
    func openDescriptors() -> Int {
      guard let folder = opendir("/proc/self/fd") else { return -1 }
      defer { closedir(folder) }
      var count = 0
      while readdir(folder) != nil { count += 1 }
      return count
    }
    /// - Returns: Whether the port refused a connection afterwards.
    func round() throws -> Bool {
      let server = try SimulatedFeedServer(frozen(events: 100))
      #expect(try HTTPClient.get(day, port: server.port).status == 200)
      let waiting = try HTTPClient(port: server.port)
      server.stop()
      server.stop()
      waiting.read()
      #expect(waiting.isClosed)
      return (try? HTTPClient(port: server.port)) == nil
    }
    // Another test may have been given the port meanwhile, but not each time.
    #expect(try (0..<10).contains { _ in try round() })
    let before = openDescriptors()
    for _ in 0..<100 {
      _ = try round()
      // A server closes its descriptors without a call of stop(), too.
      _ = try SimulatedFeedServer(frozen(events: 0))
    }
    // Other tests in this process may have descriptors open meanwhile, but not all the time.
    let deadline = ContinuousClock.now + .seconds(180)
    while openDescriptors() >= before + 80, ContinuousClock.now < deadline { poll(nil, 0, 20) }
    #expect(openDescriptors() < before + 80)
  }
}
