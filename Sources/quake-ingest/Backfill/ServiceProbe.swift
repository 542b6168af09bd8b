import CommandLine
import Postgres
import QuakeFeed
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
          if error.code == .httpStatus || error.kind == .badData || error.kind == .usage {
            return nil
          }
          throw error
        }
        failures += 1
        if error.saysNoData { return nil }
        if error.kind == .badData, !error.isCut, failures >= Self.oddities { return nil }
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
    let reader = try FeedReader(source: response.body, name: "sample")
    guard reader.format == .usgsGeoJSON else { return nil }
    var record = QuakeRecord()
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
