package import Basics
package import QuakeModel

/// Writes a catalogue of any size as GeoJSON to a file descriptor, event by event, in bounded memory.
///
/// The events reach back from an instant, the latest first, at the rate of the real feed (11,000 in 30 days):
/// a million span seven and a half years. The same seed, count and instant give the same bytes. With
/// revisions, they give the same events, some of them with other contents.
package struct FeedFileWriter: Sendable {
  package var seed: UInt64
  /// The number of events, 0 or more.
  package var events: Int
  /// The instant before which they happen.
  package var now: Timestamp
  /// The number of events, chosen by the seed, that are revised: at most all. The others are unchanged, and
  /// the snapshot is one minute later.
  package var revised = 0
  /// The number before the first id. Catalogues of different events must use distant numbers.
  package var serial = 0

  private static let bufferSize = 256 * 1024
  private static let interval = 30.0 * 86_400_000 / 11_000

  /// A writer of `events` (0 or more) that happened before `now`.
  package init(seed: UInt64, events: Int, now: Timestamp) {
    self.seed = seed
    self.events = events
    self.now = now
  }

  package init(seed: UInt64, events: Int, start: SimulationStart = .now) {
    self.init(seed: seed, events: events, now: start.instant(now: .now(), rate: 0))
  }

  /// Writes everything to an open descriptor, which stays open. Returns the number of bytes.
  ///
  /// It calls `progress` with the number of events written so far, every few hundred. If `progress` returns
  /// false, writing stops with an incomplete document.
  @discardableResult
  package func write(
    to descriptor: Int32, progress: (Int) -> Bool = { _ in true }
  ) throws(SystemFailure) -> Int {
    var random = SeededGenerator(seed: seed)
    var generator = EventGenerator(year: now.calendarYear, serial: serial)
    // A generator of its own, so that revisions do not change the other events.
    var reviser = EventReviser(random: SeededGenerator(seed: ~seed))
    var revisionsLeft = revised
    var encoder = FeatureEncoder()
    var buffer: [UInt8] = []
    buffer.reserveCapacity(Self.bufferSize + 4096)
    var written = 0
    let end = now.milliseconds
    let later = end + (revised > 0 ? 60_000 : 0)
    let metadata = FeedDocument.Metadata(
      generated: later, url: "http://simulated.invalid/fdsnws/event/1/query?format=geojson",
      title: "Simulated Earthquakes")
    FeedDocument.appendHead(metadata, count: events, to: &buffer)
    for index in 0..<events {
      let time = end - Int64((Double(index) + random.unit()) * Self.interval) - 1
      var event = generator.event(
        .anywhere, time: time, appeared: min(end, time + 60_000 + Int64(random.below(3_600_000))),
        random: &random)
      // Each choice of that many is equally likely.
      if revisionsLeft > 0, reviser.random.below(events - index) < revisionsLeft {
        revisionsLeft -= 1
        reviser.revise(&event, now: later)
      }
      if index > 0 { buffer += [0x2C, 0x0A] }
      encoder.appendFeature(event, to: &buffer)
      if buffer.count >= Self.bufferSize {
        written += try flush(&buffer, to: descriptor)
        if !progress(index + 1) { return written }
      }
    }
    buffer += [0x5D, 0x7D]
    written += try flush(&buffer, to: descriptor)
    _ = progress(events)
    return written
  }

  private func flush(
    _ buffer: inout [UInt8], to descriptor: Int32
  ) throws(SystemFailure) -> Int {
    let count = buffer.count
    try SystemCalls.write(buffer, to: descriptor)
    buffer.removeAll(keepingCapacity: true)
    return count
  }
}
