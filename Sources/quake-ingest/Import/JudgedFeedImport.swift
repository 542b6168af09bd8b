import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool

/// Imports the present snapshot of a feed and judges it. A bad one goes into quarantine, with its body.
struct JudgedFeedImport {
  let connection: Connection
  let reading: FeedReader.Options
  /// Called now and then.
  var progress: () -> Void = {}

  enum Outcome {
    /// The snapshot was applied, or is in quarantine: the report says which.
    case imported(ImportSummary, response: FeedResponse?)
    /// The feed has not changed since the last request.
    case notModified(FeedResponse)
  }

  /// Imports the feed.
  ///
  /// - Parameter beforeCommit: See `Importer.run`.
  /// - Throws: `FeedError`, also if a body that cannot be read was put into quarantine; the errors of
  ///   `Importer.run`.
  func run(
    _ reference: FeedReference, over way: FeedAccess, options: ImportOptions,
    beforeCommit: (ImportReport, FeedResponse?) throws -> Void = { _, _ in }
  ) throws -> Outcome {
    let begun = MonotonicClock.now()
    var options = options
    let isJudged = options.limits != nil
    switch try OpenFeed.open(reference, over: way, reading, keepsBody: isJudged) {
    case .notModified(let response): return .notModified(response)
    case .unreadable(let feed, let error):
      options.describe(feed.response)
      throw try setAside(feed.source, error, options)
    case .opened(var feed):
      options.describe(feed.response)
      let report: ImportReport
      do {
        report = try Importer(connection: connection, options: options)
          .run(
            from: &feed.source, shouldStop: { Signals.stopRequested },
            progress: { _ in progress() },
            beforeCommit: { try beforeCommit($0, feed.response) })
      } catch let error as FeedError where isJudged {
        throw try setAside(feed.source, error, options)
      }
      return .imported(
        ImportSummary(
          options: options, format: feed.source.format, report: report,
          elapsed: MonotonicClock.now() - begun), response: feed.response)
    }
  }

  /// Puts a body into quarantine if the error is about its contents. Returns the error to throw.
  private func setAside(
    _ source: FeedImportSource, _ error: FeedError, _ options: ImportOptions
  ) throws -> FeedError {
    guard let verdict = QuarantineVerdict(error), !options.dryRun else { return error }
    let report = try Quarantine(connection: connection)
      .setAside(verdict, options: options, source: source)
    guard let id = report.id else { return error }
    return FeedError(
      error.code, error.message, detail: error.detail,
      hint: "Its body is in quarantine; see \"quake-admin imports\", import \(id).",
      status: error.status, retryAfter: error.retryAfter)
  }
}
