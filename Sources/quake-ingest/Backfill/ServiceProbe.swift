import CommandLine
import Postgres
import QuakeFeed
import QuakeModel
import QuakeWorker

/// Finds out whether an event service whose host nobody knows is of USGS's kind: a mirror, a proxy, the
/// simulator. What it answers tells: GeoJSON that says of itself what USGS's does. Its codes are USGS's
/// then, as they are in the feeds; any other service is asked for text, whose codes get a prefix.
struct ServiceProbe {
  let fetcher: FeedFetcher
  /// Failures in a row after which it is given up.
  let attempts: Int
  let diagnostics: Diagnostics

  /// So often a page that is no feed may come before it is taken for the answer.
  private static let oddities = 3

  /// Whether `service` answers as USGS's does; false where it has no event to show.
  func isOfUSGS(
    _ service: EventService, span: BackfillWindow, minimumMagnitude: Double?
  ) throws(FeedError) -> Bool {
    let url = service.sampleURL(
      EventService.Query(
        from: span.start, to: span.end, minimumMagnitude: minimumMagnitude))
    var backoff = Backoff(first: .milliseconds(500), longest: .seconds(300))
    var failures = 0
    while true {
      do throws(FeedError) {
        return try answer(url)
      } catch {
        guard error.mayPass, error.status != 501 else {
          // A refusal is an answer. Other failures would come again with the events.
          if error.code == .httpStatus || error.kind == .badData || error.kind == .usage {
            return false
          }
          throw error
        }
        failures += 1
        if error.kind == .badData, !error.isCut, failures >= Self.oddities { return false }
        guard failures < attempts else { throw error }
        let pause = max(backoff.next(), .seconds(min(error.retryAfter ?? 0, 86_400)))
        diagnostics.warning(
          "could not ask \(service) for an event", detail: error.detail ?? error.message,
          hint: "Next attempt in \(Readable.duration(pause)).")
        RequestPacer.pause(pause)
      }
    }
  }

  private func answer(_ url: FeedURL) throws(FeedError) -> Bool {
    let response = try fetcher.open(url: url)
    guard !response.isEmpty else { return false }
    let reader = try FeedReader(source: response.body, name: "sample")
    guard reader.format == .usgsGeoJSON else { return false }
    var record = QuakeRecord()
    while try reader.next(into: &record) != nil {}
    return reader.metadata.generated != nil
  }
}

extension FeedError {
  /// Whether it is the transfer that went wrong.
  fileprivate var isCut: Bool {
    [.truncatedTransfer, .truncated, .truncatedGzip, .corruptGzip].contains(code)
  }
}
