import QuakeModel
import Testing

@testable import QuakeSimulator

/// The time in all tests: 2026-03-01T12:00:00Z.
let noon = Timestamp(microseconds: 1_772_366_400_000_000)

/// The catalogue as the server's `/catalogue.geojson` would have it.
func rendered(_ catalogue: SimulatedCatalogue) -> [UInt8] {
  let metadata = FeedDocument.Metadata(
    generated: noon.milliseconds, url: "", title: "Simulated Earthquakes")
  return FeedDocument(metadata: metadata).render(
    catalogue.events.reversed(), .geojson)
}

@Suite struct CatalogueTests {
  @Test func sameSeedSameBytes() {
    var one = SimulatedCatalogue(seed: 7, events: 1000, now: noon)
    var two = SimulatedCatalogue(seed: 7, events: 1000, now: noon)
    #expect(rendered(one) == rendered(two))
    for second in 1...500 {
      let now = Timestamp(microseconds: noon.microseconds + Int64(second) * 1_000_000)
      #expect(one.step(at: now) == two.step(at: now))
    }
    #expect(rendered(one) == rendered(two))
    #expect(rendered(one) != rendered(SimulatedCatalogue(seed: 8, events: 1000, now: noon)))
  }

  @Test func eachMagnitudeIsTenTimesAsFrequentAsTheNext() {
    let events = SimulatedCatalogue(seed: 1, events: 60_000, now: noon).events
    // Aki's estimate of the b-value of one network, well above its magnitude of completeness. The
    // true value is 1.
    let alaska = events.filter { $0.id.network == .ak && $0.place.region == 0 }
      .compactMap(\.magnitude).filter { $0 >= 1.95 }
    let mean = alaska.reduce(0, +) / Double(alaska.count)
    let b = 0.434294 / (mean - 1.95)
    #expect(alaska.count > 1000)
    #expect((0.9...1.15).contains(b), "b = \(b)")
    let magnitudes = events.compactMap(\.magnitude)
    let share = { (condition: (Double) -> Bool) in
      Double(magnitudes.filter(condition).count) / Double(events.count)
    }
    #expect((0.015...0.06).contains(share { $0 < 0 }), "negative: \(share { $0 < 0 })")
    #expect((0.02...0.08).contains(share { $0 >= 4.45 }), "4.5+: \(share { $0 >= 4.45 })")
    #expect((0.07...0.22).contains(share { $0 >= 2.45 }), "2.5+: \(share { $0 >= 2.45 })")
    #expect(magnitudes.contains(0))
    #expect(magnitudes.allSatisfy { $0 >= -2.5 && $0 < 9.5 })
    let unknown = events.count - magnitudes.count
    #expect(unknown > 0 && unknown < events.count / 200)
  }

  @Test func valuesAreMissingAsOftenAsInRealFeeds() {
    let events = SimulatedCatalogue(seed: 2, events: 20_000, now: noon).events
    func missing(_ isMissing: (SimulatedEvent) -> Bool) -> Double {
      Double(events.filter(isMissing).count) / Double(events.count)
    }
    #expect((0.85...0.95).contains(missing { $0.felt == nil }), "\(missing { $0.felt == nil })")
    #expect((0.94...0.995).contains(missing { $0.mmi == nil }), "\(missing { $0.mmi == nil })")
    #expect((0.97...0.999).contains(missing { $0.alert == nil }), "\(missing { $0.alert == nil })")
    #expect((0.17...0.3).contains(missing { $0.stations == nil }))
    #expect((0.17...0.3).contains(missing { $0.dmin == nil }))
    #expect((0.1...0.2).contains(missing { $0.gap == nil }))
    #expect((0.0001...0.002).contains(missing { $0.depth == nil }))
    #expect(events.contains { ($0.depth ?? 0) < 0 })
    #expect(events.contains { ($0.depth ?? 0) > 300 })
    let kinds = Set(events.map(\.kind))
    #expect(kinds.isSuperset(of: [.earthquake, .quarryBlast, .iceQuake, .explosion]))
    let statuses = Set(events.map(\.status))
    #expect(statuses.count == 2)
    #expect(
      events.allSatisfy {
        (-90...90).contains($0.latitude) && (-180...180).contains($0.longitude)
          && ($0.depth ?? 0) < 700 && $0.time <= $0.appeared && $0.updated <= noon.milliseconds
      })
  }

  @Test func idsAreUniqueAlthoughNetCodesAreNot() {
    var catalogue = SimulatedCatalogue(seed: 3, events: 11_000, now: noon)
    for _ in 0..<5000 { catalogue.step(at: noon) }
    let all = catalogue.events.flatMap { [$0.id] + $0.otherIDs }
    #expect(Set(all.map(\.text)).count == all.count)
    let first = SimulatedCatalogue(seed: 3, events: 11_000, now: noon).events
    let codes = { (network: SeismicNetwork) in
      Set(first.filter { $0.id.network == network }.map(\.id.code))
    }
    #expect(codes(.tx).intersection(codes(.ok)).count == 1)
  }

  @Test func everyKindOfChangeOccursAndHasItsEffect() {
    var catalogue = SimulatedCatalogue(seed: 4, events: 500, now: noon)
    var backwards = 0
    var unchanged = 0
    for _ in 0..<3000 {
      let before = catalogue.events
      let count = catalogue.count
      let change = catalogue.step(at: noon)
      let event = catalogue.events.first { $0.id.text == change.id }
      switch change.kind {
      case .arrival, .lateArrival, .reappearance:
        #expect(catalogue.count == count + 1 && event != nil)
        if let event, change.kind == .arrival {
          #expect(noon.milliseconds - event.time <= 3_600_000)
        }
      case .removal:
        #expect(catalogue.count == count - 1 && event == nil)
      case .identifierSwitch:
        #expect(event?.otherIDs.map(\.text).contains(change.previousID ?? "") == true)
        #expect(!catalogue.events.contains { $0.id.text == change.previousID })
      case .revision:
        let old = before.first { $0.id.text == change.id }
        #expect(old != event && !change.changed.isEmpty)
        if let old, let event {
          if event.updated < old.updated { backwards += 1 }
          if event.updated == old.updated { unchanged += 1 }
        }
      }
    }
    for kind in SimulatedChange.Kind.allCases {
      #expect((catalogue.counts[kind] ?? 0) > 20, "\(kind)")
    }
    #expect(backwards > 2 && unchanged > 50)
    let ordered = catalogue.events.sorted(by: SimulatedEvent.isEarlier)
    #expect(ordered == catalogue.events)
  }

  @Test func anEmptyCatalogueGetsItsFirstEvent() {
    var catalogue = SimulatedCatalogue(seed: 5, events: 0, now: noon)
    #expect(catalogue.count == 0)
    catalogue.step(at: noon)
    #expect(catalogue.count == 1)
  }

  @Test func feedsHaveTheirWindowsAndThresholds() {
    let events = SimulatedCatalogue(seed: 6, events: 11_000, now: noon).events
    #expect(SummaryFeed.all.count == 20)
    for feed in SummaryFeed.all {
      let selected = feed.select(from: events, now: noon.milliseconds)
      let start = noon.milliseconds - feed.window.milliseconds
      let expected = events.filter { event in
        guard event.time >= start else { return false }
        switch feed.threshold {
        case .all: return true
        case .magnitude1_0: return event.magnitude.map { $0 >= 0.95 } ?? false
        case .magnitude2_5: return event.magnitude.map { $0 >= 2.45 } ?? false
        case .magnitude4_5: return event.magnitude.map { $0 >= 4.45 } ?? false
        case .significant: return event.significance >= 600
        }
      }
      #expect(selected == expected.reversed(), "\(feed.name)")
      #expect(SummaryFeed(name: feed.name) == feed)
    }
    #expect(SummaryFeed(name: "all_year") == nil)
    #expect(SummaryFeed(.all, .month).title == "USGS All Earthquakes, Past Month")
    #expect(
      SummaryFeed(.magnitude2_5, .day).title == "USGS Magnitude 2.5+ Earthquakes, Past Day")
  }

  @Test func noFeedHasMoreThan30000Events() {
    let events = SimulatedCatalogue(seed: 6, events: 31_000, now: noon).events
    let selected = SummaryFeed(.all, .month).select(from: events, now: noon.milliseconds)
    #expect(selected.count == 30_000)
  }

  @Test func significanceIsAsUSGSComputesIt() {
    // The significance of real events: 385 for M 5, 39 for M 1.6, 0 for M -0.5, and 212 for M 3.63
    // with 26 reports of intensity 3.4.
    var event = SimulatedEvent(
      id: EventIdentifier(network: .us, code: "1"), time: 0, updated: 0, appeared: 0,
      magnitude: 5, place: Place(distance: 1, direction: 0, region: 0, town: 0), longitude: 0,
      latitude: 0)
    #expect(event.significance == 385)
    event.magnitude = 1.6
    #expect(event.significance == 39)
    event.magnitude = -0.5
    #expect(event.significance == 0)
    event.magnitude = 3.63
    event.felt = 26
    event.cdi = 3.4
    #expect(event.significance == 212)
  }
}
