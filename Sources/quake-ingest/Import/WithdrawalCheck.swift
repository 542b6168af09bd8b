import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel

/// Requests the own page of an event before the event is withdrawn: only if the catalogue says that it was
/// deleted (HTTP status 409) is it withdrawn. The pages are requested one after the other while the worker
/// does other work.
final class WithdrawalCheck {
  private let feed: String
  private let url: FeedURL?
  private let reach: AddressKind
  private let author: String
  private let diagnostics: Diagnostics
  private var pending: ArraySlice<Absences.Event>
  private var asked: (event: Absences.Event, page: FeedDownload)?

  /// The number of pages that are requested after each poll.
  static let limit: Int64 = 5

  /// A check of the events that a feed has lacked often enough.
  ///
  /// - Parameter reach: Which addresses the pages may have: their URLs are data of the feed.
  init(
    of events: [Absences.Event], feed: PolledFeed, reach: AddressKind, author: String,
    _ diagnostics: Diagnostics
  ) {
    self.feed = feed.name
    if case .url(let url) = feed.reference.location { self.url = url } else { url = nil }
    self.reach = reach
    self.author = author
    self.diagnostics = diagnostics
    pending = ArraySlice(events)
  }

  /// Does all work that does not wait for a page.
  ///
  /// - Returns: Whether the check is finished.
  func advance(_ downloads: FeedDownloads, over connection: Connection) throws -> Bool {
    let absences = Absences(connection: connection)
    while true {
      if let (event, page) = asked {
        guard page.isFinished else { return false }
        asked = nil
        if try !judge(event, page, absences) { pending = [] }
      }
      guard let event = pending.popFirst() else { return true }
      guard let page = request(event, downloads) else {
        try absences.postpone(event)
        continue
      }
      asked = (event, page)
    }
  }

  /// Requests the page of an event; nil if that is not possible.
  private func request(_ event: Absences.Event, _ downloads: FeedDownloads) -> FeedDownload? {
    guard let url = event.detail.map({ FeedURL($0) }) ?? detail(of: event.code) else { return nil }
    do throws(FeedError) {
      return try downloads.start(url, reach: reach, headersOnly: true)
    } catch {
      diagnostics.verbose("could not ask for \(event.code): \(error.message)")
      return nil
    }
  }

  func cancel(_ downloads: FeedDownloads) {
    if let asked { downloads.cancel(asked.page) }
    asked = nil
    pending = []
  }

  /// - Returns: Whether other pages are likely to answer.
  private func judge(
    _ event: Absences.Event, _ page: FeedDownload, _ absences: Absences
  ) throws -> Bool {
    do throws(FeedError) {
      _ = try page.response()
    } catch {
      guard error.status == 409 else {
        // It is unknown whether the event was deleted; its page is requested again later.
        diagnostics.verbose("could not ask for \(event.code): \(error.message)")
        try absences.postpone(event)
        let isHere = error.status.map { (400...499).contains($0) && $0 != 429 } ?? false
        return isHere || error.code == .refusedRedirect
      }
      try absences.withdraw(event, author: author, context: feed)
      diagnostics.note("\(feed): \(event.code) was deleted from its catalogue")
      return true
    }
    try absences.forget(event)
    return true
  }

  /// USGS's pages are in a folder beside its summaries. CSV files do not have their URLs.
  private func detail(of code: String) -> FeedURL? {
    guard let url, let place = url.text.firstRange(of: "/summary/") else { return nil }
    let name = PercentEncoding.text(code)
    return url.leading(to: url.text[..<place.lowerBound] + "/detail/\(name).geojson")
  }
}
