import CommandLine
import Postgres
import QuakeFeed
import QuakeModel
import QuakeStore

/// Asks an event's own page before it is withdrawn: only the catalogue's word that it was deleted (HTTP
/// status 409) counts then.
struct WithdrawalCheck {
  let fetcher: FeedFetcher
  let diagnostics: Diagnostics
  let author: String

  /// How many pages are asked for after each poll.
  private static let limit: Int64 = 5

  /// Checks the events that a feed has lacked often enough.
  func run(
    _ feed: PolledFeed, scope: FeedScope, times: Int, over connection: Connection
  ) throws {
    let absences = Absences(connection: connection)
    for event in try absences.missing(from: scope.name, times: times, limit: Self.limit)
    where !Signals.stopRequested {
      guard let url = event.detail ?? Self.detail(of: event.code, feed: feed.url) else { continue }
      do throws(FeedError) {
        _ = try fetcher.open(url: url, validators: nil)
      } catch {
        guard error.status == 409 else {
          // Whether it was deleted is not known; it is asked again later.
          diagnostics.verbose("could not ask for \(event.code): \(error.message)")
          guard let status = error.status, (400...499).contains(status), status != 429 else {
            return
          }
          try absences.postpone(event)
          continue
        }
        try absences.withdraw(event, author: author, context: feed.name)
        diagnostics.note("\(feed.name): \(event.code) was deleted from its catalogue")
        continue
      }
      try absences.forget(event)
    }
  }

  /// USGS's pages lie beside its summaries. CSV files do not name them.
  private static func detail(of code: String, feed: String) -> String? {
    guard let place = feed.firstRange(of: "/summary/") else { return nil }
    return feed[..<place.lowerBound] + "/detail/\(code).geojson"
  }
}
