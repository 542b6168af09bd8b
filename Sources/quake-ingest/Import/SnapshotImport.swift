import CommandLine
import FeedImport
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool
import SystemClock

/// Imports the present snapshot of a feed that is judged: one that is bad is set aside, with its body.
struct SnapshotImport {
  let connection: Connection
  let isStrict: Bool
  /// Called now and then.
  var progress: () -> Void = {}

  /// What became of a snapshot.
  enum Outcome {
    /// It was applied, or set aside: the report says so.
    case imported(ImportSummary, response: FeedResponse?)
    /// The version one has is still the newest.
    case notModified(FeedResponse)
  }

  /// Imports the feed.
  ///
  /// - Parameter beforeCommit: As that of `Importer`.
  /// - Throws: `FeedError`, also after a body that could not be read was set aside; what `Importer`
  ///   throws.
  func run(
    _ reference: FeedReference, over way: FeedAccess, options: ImportOptions,
    beforeCommit: (ImportReport, FeedResponse?) throws -> Void = { _, _ in }
  ) throws -> Outcome {
    let begun = MonotonicClock.now()
    var options = options
    let isJudged = options.limits != nil
    switch try OpenFeed.open(
      reference, over: way, strict: isStrict, keepsBody: isJudged)
    {
    case .notModified(let response): return .notModified(response)
    case .unreadable(let feed, let error):
      feed.describe(in: &options)
      throw try setAside(feed.source, error, options)
    case .opened(var feed):
      feed.describe(in: &options)
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

  /// Sets a body aside if it is to blame; the error that tells of both.
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
