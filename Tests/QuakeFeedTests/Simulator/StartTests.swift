import QuakeModel
import Synchronization
import Testing

@testable import QuakeSimulator

@Suite(.serialized)
struct StartTests {
  private func catalogue(
    _ start: SimulationStart, rate: Double = 15, begunAt begin: Timestamp, askedAt end: Timestamp
  ) throws -> [UInt8] {
    var options = frozen()
    options.rate = rate
    options.start = start
    let clock = Mutex(begin)
    options.now = { clock.withLock { $0 } }
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    clock.withLock { $0 = end }
    return rendered(server.catalogue)
  }

  private func later(_ seconds: Int64) -> Timestamp {
    Timestamp(microseconds: noon.microseconds + seconds * 1_000_000)
  }

  @Test func simulatorsThatShareTheirStartHaveTheSameCatalogue() throws {
    let end = later(3599)
    let first = try catalogue(.shared, begunAt: noon, askedAt: end)
    #expect(try catalogue(.shared, begunAt: later(1800), askedAt: end) == first)
    #expect(try catalogue(.shared, begunAt: later(3599), askedAt: end) == first)
    // Without a shared start, each run has a catalogue of its own.
    #expect(try catalogue(.now, begunAt: later(1), askedAt: end) != first)
    #expect(try catalogue(.now, begunAt: later(1800), askedAt: end) != first)
  }

  @Test func aGivenStartGivesTheSameCatalogueInEachRun() throws {
    let start = SimulationStart.at(later(-90))
    let first = try catalogue(start, begunAt: noon, askedAt: later(600))
    #expect(try catalogue(start, begunAt: later(500), askedAt: later(600)) == first)
  }

  @Test func aStartOfLongAgoHasNoChangesBeforeAnInstantThatRunsOfAnHourShare() {
    let start = SimulationStart.at(Timestamp(microseconds: 0))
    let first = start.firstChange(now: noon, rate: 15)
    #expect(start.firstChange(now: later(500), rate: 15) == first)
    // 200,000 changes at 15 a minute take nine days, six hours and 13 minutes.
    #expect(first.description.hasPrefix("2026-02-20T05:00:00"))
    let next = start.firstChange(now: later(900), rate: 15)
    #expect(next.description.hasPrefix("2026-02-20T06:00:00"))
    #expect(start.instant(now: noon, rate: 15) == Timestamp(microseconds: 0))
    let late = SimulationStart.at(later(-90))
    #expect(late.firstChange(now: noon, rate: 15) == later(-90))
  }

  @Test func aSharedStartLiesSoFarBackThatFewChangesAreRepeated() {
    func beginning(_ rate: Double) -> String {
      SimulationStart.sharedBeginning(before: later(2_345), rate: rate).description
    }
    #expect(beginning(0).hasPrefix("2026-03-01T12:00:00"))
    #expect(beginning(60).hasPrefix("2026-03-01T12:00:00"))
    #expect(beginning(600).hasPrefix("2026-03-01T12:30:00"))
    #expect(beginning(6_000).hasPrefix("2026-03-01T12:39:00"))
    #expect(beginning(600_000).hasPrefix("2026-03-01T12:39:05"))
  }

  @Test func aSharedStartLeavesAllFirstEventsInTheFeedOfAMonth() throws {
    var options = frozen(events: 500)
    options.start = .shared
    options.now = { Timestamp(microseconds: noon.microseconds + 3_599_000_000) }
    let server = try SimulatedFeedServer(options)
    defer { server.stop() }
    let path = "/earthquakes/feed/v1.0/summary/all_month.geojson"
    let feed = try JSONValue(HTTPClient.get(path, port: server.port).body)
    #expect(feed["features"]?.elements.count == 500)
  }

  @Test func theStartMustNotBeInTheFuture() {
    var options = frozen()
    options.start = .at(later(1))
    #expect(throws: SimulatorError.self) { try SimulatedFeedServer(options).stop() }
  }
}
