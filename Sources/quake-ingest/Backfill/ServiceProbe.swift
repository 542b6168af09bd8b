import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeWorker

/// Finds out whether an event service on an unknown host is a mirror or proxy of USGS's, or the simulator. It
/// is if it answers with GeoJSON that has the metadata of USGS's. Then its codes are USGS's or the simulator's, as
/// in the feeds. Any other service is asked for text, and its codes get a prefix.
struct ServiceProbe {
  let fetcher: FeedFetcher
  /// The number of failures in a row after which the probe fails.
  let attempts: Int
  let diagnostics: Diagnostics

  /// The number of answers in a row without a feed after which the service is not of USGS's kind.
  private static let oddities = 3

  /// The data centre of `service`, if it answers as USGS's does; nil if it does not, or has no event to show.
  func centre(
    of service: EventService, _ query: EventService.Query
  ) throws(FeedError) -> DataCentre? {
    let url = service.sampleURL(query)
    var backoff = Backoff(first: .milliseconds(500), longest: .seconds(300))
    var failures = 0
    while true {
      do throws(FeedError) {
        return try answer(url)
      } catch {
        guard error.mayPass, error.status != 501 else {
          // A refusal is an answer. Any other failure would occur again when the events are fetched.
          if error.code == .httpStatus || error.category == .badData || error.category == .usage {
            return nil
          }
          throw error
        }
        failures += 1
        if error.saysNoData { return nil }
        if error.category == .badData, !error.isCut, failures >= Self.oddities { return nil }
        guard failures < attempts else { throw error }
        let pause = max(backoff.next(), .seconds(min(error.retryAfter ?? 0, 86_400)))
        diagnostics.warning(
          "could not ask \(service) for an event", detail: error.detail ?? error.message,
          hint: "Next attempt in \(Readable.duration(pause)).")
        RequestPacer.pause(pause)
      }
    }
  }

  private func answer(_ url: FeedURL) throws(FeedError) -> DataCentre? {
    let response = try fetcher.open(url: url)
    guard !response.isEmpty else { return nil }
    var options = FeedReader.Options()
    options.maximumBytes = fetcher.maximumBytes
    let reader = try FeedReader(source: response.body, name: "sample", options: options)
    guard reader.format == .usgsGeoJSON else { return nil }
    var record = EventRecord()
    var centre: DataCentre?
    while let item = try reader.next(into: &record) {
      guard case .record = item else { continue }
      centre = record.isSimulated ? .simulated : .usgs
    }
    return reader.metadata.generated == nil ? nil : centre ?? .usgs
  }
}

extension FeedError {
  /// Whether the transfer failed, and not the contents.
  fileprivate var isCut: Bool {
    [.truncatedTransfer, .truncated, .truncatedGzip, .corruptGzip].contains(code)
  }
}

/// The records of a service's answer, of which those outside the window are rejected: an event of another
/// time shows that the answer is damaged, for example if all times have become 1970. Those outside the region are
/// left out: a query may ask for more than the region.
struct BackfillWindowSource<Base: ImportSource>: ImportSource {
  private var base: Base
  private let window: BackfillWindow
  private let region: EventService.Region
  private let received: Counter

  /// The number of records of an answer, also of those that are left out.
  final class Counter {
    var records: Int64 = 0
  }

  /// How far outside an event may be, in microseconds: services round times.
  private static var tolerance: Int64 { 1_000_000 }

  init(
    _ base: Base, window: BackfillWindow, region: EventService.Region, counting received: Counter
  ) {
    self.base = base
    self.window = window
    self.region = region
    self.received = received
  }

  mutating func next(into record: inout EventRecord) throws -> ImportItem? {
    var next = try base.next(into: &record)
    received.records += next == nil ? 0 : 1
    while case .record = next, !region.contains(record) {
      next = try base.next(into: &record)
      received.records += next == nil ? 0 : 1
    }
    guard let item = next else { return nil }
    guard case .record = item, let time = record.time,
      time.microseconds < window.start.microseconds - Self.tolerance
        || time.microseconds > window.end.microseconds + Self.tolerance
    else { return item }
    let code = record.code ?? ""
    return .reject(
      ImportReject(
        place: "record \(received.records)",
        reason: "The time \(time) is not within the requested window.", raw: code))
  }

  var columns: [EventColumn] { base.columns }
  var inferredColumns: Set<EventColumn> { base.inferredColumns }
  var format: String { base.format }
  var generated: Timestamp? { base.generated }
  var bytesRead: Int64 { base.bytesRead }
}

/// Throttles the requests to an event service.
struct RequestPacer {
  private let interval: Duration
  private var due: Duration = .zero

  /// - Parameter rate: Requests a second at most.
  init(rate: Double) {
    interval = .seconds(1 / rate)
  }

  /// Waits until the next request may be sent, or a stop is requested.
  mutating func wait() {
    Self.pause(until: due)
    due = MonotonicClock.now() + interval
  }

  /// Waits for `duration`, or until a stop is requested.
  static func pause(_ duration: Duration) {
    pause(until: MonotonicClock.now() + duration)
  }

  private static func pause(until due: Duration) {
    while !Signals.stopRequested {
      let left = due - MonotonicClock.now()
      guard left > .zero else { return }
      _ = Signals.wait(timeout: left)
    }
  }
}
