import QuakeModel
import Testing

@testable import QuakeSimulator

extension ServerTests {
  @Suite(.serialized) struct FaultTests {
    let target = "/earthquakes/feed/v1.0/summary/all_month.geojson"

    /// The answer to a request for all events with one fault, and the good answer after it.
    private func provoke(_ fault: FaultKind) throws -> (faulty: HTTPReply, good: HTTPReply) {
      let server = try SimulatedFeedServer(frozen())
      defer { server.stop() }
      let ordered = try HTTPClient.request(
        "POST", "/fault?kind=\(fault.rawValue)&count=1", port: server.port)
      #expect(ordered.status == 200)
      let faulty = try HTTPClient.get(target, port: server.port)
      let good = try HTTPClient.get(target, port: server.port)
      #expect(good.status == 200 && good.isComplete)
      _ = try JSONValue(good.body)
      return (faulty, good)
    }

    private func count(_ reply: HTTPReply) throws -> Int {
      try JSONValue(reply.body)["features"]?.elements.count ?? 0
    }

    @Test func aStaleAnswerIsOlder() throws {
      let (faulty, good) = try provoke(.stale)
      let generated = try JSONValue(faulty.body)["metadata"]?["generated"]?.number
      #expect(generated == Double(noon.milliseconds - 72_000_000))
      #expect(faulty.headers["last-modified"] == "Sat, 28 Feb 2026 16:00:00 GMT")
      #expect(try (1..<count(good)).contains(count(faulty)))
    }

    @Test func anEmptyAnswerHasNoBody() throws {
      let (faulty, _) = try provoke(.empty)
      #expect(faulty.status == 200 && faulty.isComplete && faulty.body.isEmpty)
    }

    @Test func aTruncatedAnswerIsCompleteButNoJSON() throws {
      let (faulty, good) = try provoke(.truncated)
      #expect(faulty.status == 200 && faulty.isComplete)
      #expect(faulty.body.count < good.body.count && good.body.starts(with: faulty.body))
      #expect(throws: (any Error).self) { try JSONValue(faulty.body) }
    }

    @Test func aShortAnswerLacksBytesOfItsLength() throws {
      let (faulty, good) = try provoke(.short)
      #expect(faulty.status == 200 && !faulty.isComplete)
      #expect(faulty.headers["content-length"] == "\(good.body.count)")
      #expect(faulty.body.count == good.body.count / 2 && good.body.starts(with: faulty.body))
    }

    @Test func anHTMLAnswerIsNoFeed() throws {
      let (faulty, _) = try provoke(.html)
      #expect(faulty.status == 200 && faulty.text.hasPrefix("<!DOCTYPE html>"))
    }

    @Test func anAnswerWithGarbageTimesHasTimesOf1970() throws {
      let (faulty, good) = try provoke(.garbageTimes)
      let times = try JSONValue(faulty.body)["features"]?.elements
        .compactMap { $0["properties"]?["time"]?.number }
      #expect(try times == Array(repeating: 2000, count: count(good)))
    }

    @Test func anUnavailableAnswerSaysWhenToRetry() throws {
      let (faulty, _) = try provoke(.unavailable)
      #expect(faulty.status == 503 && faulty.headers["retry-after"] == "60")
    }

    @Test func aHalfAnswerLacksEvents() throws {
      let (faulty, good) = try provoke(.half)
      #expect(try count(faulty) == (count(good) + 1) / 2)
    }

    @Test func scheduledFaultsComeAtTheirTimes() throws {
      var options = frozen(events: 100)
      options.faults = [ScheduledFault(.unavailable, every: 3), ScheduledFault(.html, every: 2)]
      let server = try SimulatedFeedServer(options)
      defer { server.stop() }
      let statuses = try (0..<6).map { _ in
        let reply = try HTTPClient.get(target, port: server.port)
        return reply.text.hasPrefix("<") && reply.status == 200 ? 1 : reply.status
      }
      #expect(statuses == [200, 1, 503, 1, 200, 503])
      let state = try JSONValue(HTTPClient.get("/state", port: server.port).body)
      #expect(state["faultyAnswers"]?.number == 4)
      #expect(ScheduledFault("stale:5") == ScheduledFault(.stale, every: 5))
      #expect(ScheduledFault("503") == ScheduledFault(.unavailable, every: 1))
      for bad in ["", "flood", "stale:0", "stale:", "stale:1:2"] {
        #expect(ScheduledFault(bad) == nil)
      }
    }

    @Test func faultsApplyToQueriesToo() throws {
      let server = try SimulatedFeedServer(frozen(events: 100))
      defer { server.stop() }
      _ = try HTTPClient.request("POST", "/fault?kind=503", port: server.port)
      let query = "/fdsnws/event/1/query?format=text"
      #expect(try HTTPClient.get(query, port: server.port).status == 503)
      #expect(try HTTPClient.get(query, port: server.port).status == 200)
    }
  }
}
