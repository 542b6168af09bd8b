import Basics
import Glibc
import QuakeModel
import Synchronization
import TestSupport
import Testing

@testable import QuakeFeed
@testable import QuakeSimulator

/// The simulated catalogue, and the answers about it. `RunTests` and `BackfillTests` have each of its faults and the
/// limits of its service.
@Suite struct SimulatorTests {
  /// 2026-03-01T12:00:00Z.
  private static let noon = Timestamp(microseconds: 1_772_366_400_000_000)
  private static let summaries = "/earthquakes/feed/v1.0/summary/"
  private static let query = "/fdsnws/event/1/query"

  private static func later(_ seconds: Int64) -> Timestamp {
    Timestamp(microseconds: noon.microseconds + seconds * 1_000_000)
  }

  /// A service with a clock that stands still, and a catalogue that does not change.
  private func service(
    events: Int = 800, _ change: (inout SimulatorOptions) -> Void = { _ in }
  ) -> SimulatedService {
    var options = SimulatorOptions()
    options.events = events
    options.rate = 0
    options.now = { Self.noon }
    change(&options)
    return SimulatedService(options, baseURL: "http://127.0.0.1:1")
  }

  private func get(
    _ path: String, _ arguments: KeyValuePairs<String, String> = [:], tag: String? = nil,
    of service: SimulatedService
  ) -> Answer {
    service.answer(
      to: Request(
        method: .get, path: path,
        arguments: arguments.map { Request.Argument(name: $0, value: $1) }, ifNoneMatch: tag))
  }

  private func records(_ answer: Answer) throws -> [EventRecord] {
    let contents = try FeedContents(
      BytesSource(answer.body), options: FDSNTextTests.options("usgs"))
    #expect(contents.rejects.isEmpty)
    if let count = contents.metadata.count { #expect(count == contents.records.count) }
    return contents.records
  }

  // MARK: The catalogue

  @Test func theSameSeedGivesTheSameCatalogue() {
    var one = SimulatedCatalogue(seed: 7, events: 1000, now: Self.noon)
    var two = SimulatedCatalogue(seed: 7, events: 1000, now: Self.noon)
    for second in 1...500 {
      one.step(at: Self.later(Int64(second)))
      two.step(at: Self.later(Int64(second)))
    }
    #expect(one.events == two.events)
    #expect(one.events != SimulatedCatalogue(seed: 8, events: 1000, now: Self.noon).events)
  }

  @Test func eventsArriveAreRevisedWithdrawnAndGetOtherIDs() {
    var catalogue = SimulatedCatalogue(seed: 4, events: 500, now: Self.noon)
    let before = Dictionary(uniqueKeysWithValues: catalogue.events.map { ($0.id, $0) })
    for _ in 0..<1000 { catalogue.step(at: Self.noon) }
    let after = Dictionary(uniqueKeysWithValues: catalogue.events.map { ($0.id, $0) })
    #expect(after.keys.contains { before[$0] == nil })
    #expect(before.keys.contains { after[$0] == nil })
    let revised = after.values.filter { event in before[event.id].map { $0 != event } ?? false }
    #expect(!revised.isEmpty)
    // The time of the update is no version.
    #expect(revised.contains { before[$0.id]?.updated == $0.updated })
    #expect(after.values.contains { $0.otherIDs.contains { before[$0] != nil } })
    let all = catalogue.events.flatMap { [$0.id] + $0.otherIDs }
    #expect(Set(all).count == all.count)
    #expect(catalogue.events == catalogue.events.sorted(by: SimulatedEvent.isEarlier))
  }

  // MARK: The start

  private func catalogue(
    _ start: SimulationStart, begunAt begin: Timestamp, askedAt end: Timestamp
  ) -> [SimulatedEvent] {
    let clock = Mutex(begin)
    let service = service {
      $0.rate = 15
      $0.start = start
      $0.now = { clock.withLock { $0 } }
    }
    clock.withLock { $0 = end }
    return service.catalogue.events
  }

  @Test func simulatorsThatShareTheirStartHaveTheSameCatalogue() {
    let end = Self.later(3599)
    let first = catalogue(.shared, begunAt: Self.noon, askedAt: end)
    #expect(catalogue(.shared, begunAt: Self.later(1800), askedAt: end) == first)
    // Without a shared start, each run has a catalogue of its own.
    #expect(catalogue(.now, begunAt: Self.later(1800), askedAt: end) != first)
    let start = SimulationStart.at(Self.later(-90))
    #expect(
      catalogue(start, begunAt: Self.noon, askedAt: end)
        == catalogue(start, begunAt: Self.later(500), askedAt: end))
  }

  @Test func aStartLiesSoFarBackThatFewChangesAreRepeated() {
    let old = SimulationStart.at(Timestamp(microseconds: 0))
    // 200,000 changes at 15 a minute take nine days, six hours and 13 minutes; runs of an hour share the first.
    for seconds: Int64 in [0, 500] {
      let first = old.firstChange(now: Self.later(seconds), rate: 15)
      #expect(first.description == "2026-02-20T05:00:00.000Z")
    }
    for (rate, time) in [
      (0.0, "12:00:00"), (60, "12:00:00"), (600, "12:30:00"), (6_000, "12:39:00"),
      (600_000, "12:39:05"),
    ] {
      let shared = SimulationStart.sharedBeginning(before: Self.later(2_345), rate: rate)
      #expect(shared.description == "2026-03-01T\(time).000Z")
    }
  }

  // MARK: Answers

  @Test func theTwentyFeedsAreServed() throws {
    let service = service { $0.start = .shared }
    for feed in SummaryFeed.all {
      let records = try records(get("\(Self.summaries)\(feed.name).geojson", of: service))
      let events = feed.select(from: service.catalogue.events, now: Self.noon.milliseconds)
      #expect(records.map { $0.text(.code) } == events.map(\.id.text))
      #expect(records.allSatisfy { $0.isSimulated })
      #expect(records.allSatisfy { $0.text(.place)?.hasPrefix("Simulated: ") == true })
    }
    #expect(try records(get(Self.summaries + "all_month.geojson", of: service)).count == 800)
    #expect(get(Self.summaries + "all_year.geojson", of: service).status == 404)
  }

  @Test func aFeedThatHasNotChangedIsNotSentAgain() throws {
    let clock = Mutex(Self.noon)
    let service = service {
      $0.rate = 60
      $0.now = { clock.withLock { $0 } }
    }
    let path = Self.summaries + "all_day.geojson"
    let first = get(path, of: service)
    let tag = try #require(first.headers.first { $0.name == "ETag" }?.value)
    #expect(get(path, tag: tag, of: service).status == 304)
    #expect(get(path, tag: "W/\(tag), \"x\"", of: service).status == 304)
    #expect(get(path, tag: "\"x\"", of: service).status == 200)
    clock.withLock { $0 = Self.later(59) }
    #expect(get(path, of: service).body == first.body, "it may be kept for a minute")
    clock.withLock { $0 = Self.later(600) }
    let changed = get(path, tag: tag, of: service)
    #expect(changed.status == 200 && changed.body != first.body)
  }

  @Test func aQueryIsAnsweredInTheOrderAndTheFormatAskedFor() throws {
    let service = service()
    let text = get(
      Self.query,
      [
        "format": "text", "starttime": "2026-02-10", "endtime": "2026-02-20T12:00:00",
        "orderby": "time-asc",
      ], of: service)
    let ascending = try records(text)
    #expect(ascending.count > 100)
    let geoJSON = get(
      Self.query, ["starttime": "2026-02-10", "endtime": "2026-02-20T12:00:00", "limit": "5"],
      of: service)
    let latest = try records(geoJSON)
    #expect(latest.map { $0.text(.code) } == ascending.suffix(5).reversed().map { $0.text(.code) })
    #expect(get(Self.query, ["minmagnitude": "9.9"], of: service).status == 204)
    for (name, value) in [
      ("limit", "20001"), ("starttime", "yesterday"), ("minmagnitude", "big"), ("colour", "red"),
    ] {
      let refusal = get(Self.query, [name: value], of: service)
      #expect(refusal.status == 400)
      #expect(String(decoding: refusal.body, as: UTF8.self).hasPrefix("Error 400: Bad Request"))
    }
  }

  @Test func scheduledAndRequestedFaultsComeAtTheirTimes() throws {
    let service = service(events: 100) {
      $0.faults = [ScheduledFault(.unavailable, every: 3), ScheduledFault(.empty, every: 2)]
    }
    let answers = (0..<6).map { _ in get(Self.summaries + "all_month.geojson", of: service) }
    #expect(answers.map(\.status) == [200, 200, 503, 200, 200, 503])
    #expect(answers.map(\.body.isEmpty) == [false, true, false, true, false, false])
    let order = Request(
      method: .post, path: "/fault",
      arguments: [.init(name: "kind", value: "html"), .init(name: "count", value: "1")])
    #expect(service.answer(to: order).status == 200)
    let page = get(Self.query, ["format": "text"], of: service)
    #expect(page.status == 200 && page.body.starts(with: "<!DOCTYPE html>".utf8))
    #expect(ScheduledFault("503")?.every == 1 && ScheduledFault("stale:5")?.every == 5)
    for bad in ["", "flood", "stale:0", "stale:", "stale:1:2"] {
      #expect(ScheduledFault(bad) == nil)
    }
  }

  @Test func theServerListensUntilItIsStopped() throws {
    var options = SimulatorOptions()
    options.events = 100
    options.rate = 0
    let server = try SimulatedFeedServer(options)
    let feed = try #require(SummaryFeed(name: "all_month"))
    let client = FeedClient(options: FeedClient.Options(version: "0"))
    let body = try client.open(url: server.url(of: feed)).body
    #expect(try FeedContents(body).records.count == 100)
    options.port = server.port
    let error = #expect(throws: SimulatorError.self) { _ = try SimulatedFeedServer(options) }
    #expect(
      error?.message
        == "could not listen on 127.0.0.1 port \(server.port): Address already in use")
    #expect(error?.hint == "Choose another port, or 0 for any that is free.")
    server.stop()
    server.stop()
  }

  // MARK: Files

  /// The events of a file that the writer writes.
  private func written(_ writer: FeedFileWriter) throws -> [EventRecord] {
    let folder = try TemporaryFolder()
    let path = try folder.write("feed", "")
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let count = try writer.write(to: descriptor)
    let contents = try FeedContents(try FileSource(path: path))
    #expect(contents.rejects.isEmpty && contents.metadata.count == contents.records.count)
    #expect(contents.bytesRead == count)
    return contents.records
  }

  @Test func aFileHasTheEventsOfItsSeedTheLatestFirst() throws {
    let writer = FeedFileWriter(seed: 2, events: 400, now: Self.noon)
    let records = try written(writer)
    let times = records.map { $0.timestamp(.time) ?? .earliest }
    #expect(times.count == 400 && times == times.sorted(by: >))
    #expect(try written(writer) == records)
    var other = writer
    other.serial = 10_000
    let codes = Set(records.map { $0.text(.code) })
    #expect(codes.count == 400)
    #expect(try codes.isDisjoint(with: written(other).map { $0.text(.code) }))
    // The given number of events is revised, and the others stay the same.
    for count in [1, 40, 400] {
      var later = writer
      later.revised = count
      #expect(try zip(records, written(later)).count { $0 != $1 } == count)
    }
  }

  @Test func writingAFileCanBeStoppedAndFail() throws {
    let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var reported: [Int] = []
    let writer = FeedFileWriter(seed: 2, events: 3000, now: Self.noon)
    try writer.write(to: descriptor) { count in
      reported.append(count)
      return reported.count < 2
    }
    #expect(reported.count == 2 && reported == reported.sorted() && reported[1] < 3000)
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let error = #expect(throws: SystemFailure.self) { try writer.write(to: full) }
    #expect(error?.code == ENOSPC)
  }
}
