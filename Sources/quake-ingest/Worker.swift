import CommandLine
import Postgres
import QuakeFeed
import QuakeStore
import QuakeTool

/// Polls feeds one after the other, each when it is due, and imports what they bring. Nothing a feed
/// or the database does ends it.
final class Worker {
  private let database: DatabaseAccess
  private var connection: Connection?
  private let diagnostics: Diagnostics
  private let settings: ImportSettings
  private let judging: JudgingOptions
  private var feeds: [PolledFeed]
  private var history: HistoryKeeper?
  private let fetcher: FeedFetcher
  private var databaseBackoff = Backoff(first: .milliseconds(250), longest: .seconds(30))

  init(
    database: DatabaseAccess, connection: Connection, diagnostics: Diagnostics,
    settings: ImportSettings, judging: JudgingOptions, feeds: [PolledFeed],
    history: HistoryKeeper?
  ) {
    self.database = database
    self.connection = connection
    self.diagnostics = diagnostics
    self.settings = settings
    self.judging = judging
    self.feeds = feeds
    self.history = history
    fetcher = FeedFetcher(timeoutMilliseconds: settings.timeoutMilliseconds)
  }

  /// Polls until it is told to stop.
  ///
  /// - Throws: `StoreError` if the database comes back with a schema that this program does not know:
  ///   waiting will not help.
  func run() throws -> ExitStatus {
    while !Signals.stopRequested {
      guard let next = feeds.indices.min(by: { feeds[$0].due < feeds[$1].due }) else { break }
      let pause = feeds[next].due - MonotonicClock.now()
      if pause > .zero {
        keepHistory(until: feeds[next].due)
        let rest = feeds[next].due - MonotonicClock.now()
        _ = Signals.wait(timeout: max(.zero, min(rest, history?.remaining ?? rest)))
      } else if connection == nil {
        try reconnect()
      } else {
        poll(next)
      }
    }
    return .ok
  }

  /// Polls each feed once; the status of the first that failed.
  func pollOnce() -> ExitStatus {
    var status = ExitStatus.ok
    for index in feeds.indices where !Signals.stopRequested {
      let result = poll(index)
      if status == .ok { status = result }
    }
    return status
  }

  private func reconnect() throws {
    do {
      let regained = try database.reconnect(wake: Signals.wakeDescriptor)
      try Migrator.checkSchema(of: regained)
      connection = regained
      diagnostics.note("connected to the database again")
    } catch let error as StoreError {
      throw error
    } catch {
      diagnostics.verbose("still no database: \(error)")
      _ = Signals.wait(timeout: databaseBackoff.next())
    }
  }

  @discardableResult
  private func poll(_ index: Int) -> ExitStatus {
    guard let connection else { return .unavailable }
    let name = feeds[index].name
    do {
      let freshFor = try importSnapshot(of: feeds[index], connection)
      feeds[index].succeeded(freshFor: freshFor)
      databaseBackoff.reset()
      return .ok
    } catch let error as PostgresError where error.isConnectionLoss {
      // The feed is not to blame; it is polled as soon as the database is back.
      diagnostics.warning(
        "lost the database while importing \(name): \(error.message)",
        hint: "It is repeated when the database is back; what is stored already stays as it is.")
      self.connection = nil
      feeds[index].postpone(by: databaseBackoff.next())
      return .unavailable
    } catch let error as QuarantinedSnapshot {
      // The server is well, and its next snapshot may be: it is asked for at the usual time.
      feeds[index].succeeded(freshFor: nil)
      let failure = error.failure
      diagnostics.warning(
        "could not import \(name): \(failure.message)", detail: failure.detail, hint: failure.hint)
      recordFailure(failure, of: feeds[index], connection)
      return failure.status
    } catch {
      guard let failure = IngestCommand.failure(error) ?? Failure(error) else {
        diagnostics.error("could not import \(name): \(error)")
        _ = feeds[index].failed(retryAfter: nil)
        return .failed
      }
      guard failure.status != .ok else { return .ok }  // told to stop while waiting for an answer
      let pause = feeds[index].failed(retryAfter: (error as? FeedError)?.retryAfter)
      diagnostics.warning(
        "could not import \(name): \(failure.message)",
        detail: failure.detail, hint: "Next attempt in \(Readable.duration(pause)).")
      recordFailure(failure, of: feeds[index], connection)
      return failure.status
    }
  }

  /// Imports the feed's present snapshot; returns for how many seconds the server says it is fresh.
  private func importSnapshot(of feed: PolledFeed, _ connection: Connection) throws -> Int? {
    let url = feed.reference.description
    let state = try FeedState.load(feed.name, url: url, over: connection)
    let validators = FeedValidators(etag: state.etag, lastModified: state.lastModified)
    var options = settings.importOptions(for: feed.reference, program: diagnostics.tool)
    options.feed = feed.name
    judging.complete(&options, scope: feed.reference.scope)
    let snapshot = SnapshotImport(
      connection: connection, fetcher: fetcher, isStrict: settings.isStrict)
    switch try snapshot.run(feed.reference, validators: validators, options: options) {
    case .notModified(let response):
      diagnostics.verbose("\(feed.name): not modified")
      // What an answer without contents leaves out still holds.
      let kept = FeedValidators(
        etag: response.etag ?? state.etag,
        lastModified: response.validators.lastModified ?? state.lastModified)
      try record(feed, kept, of: nil, connection)
      return response.maxAge
    case .imported(let summary, let response):
      let report = summary.report
      if report.quarantine != nil { throw QuarantinedSnapshot(summary: summary) }
      if let rejects = summary.rejects { diagnostics.warning(rejects.message, hint: rejects.hint) }
      diagnostics.note(summary.text)
      if report.isComplete, !settings.isDryRun {
        try record(feed, response?.validators, of: report, connection)
      }
      return response?.maxAge
    }
  }

  /// Feeds go first: what is not done when the next is due is done after it.
  private func keepHistory(until due: Duration) {
    guard let connection else { return }
    do {
      try history?.purge(
        over: connection,
        shouldStop: { Signals.stopRequested || MonotonicClock.now() >= due })
    } catch {
      diagnostics.warning(
        "could not let go of old history: \(Failure(error)?.message ?? "\(error)")",
        hint: "It is tried again later.")
      if (error as? PostgresError)?.isConnectionLoss == true { self.connection = nil }
    }
  }

  private func record(
    _ feed: PolledFeed, _ validators: FeedValidators?, of report: ImportReport?,
    _ connection: Connection
  ) throws {
    try FeedState.recordSuccess(
      feed.name, url: feed.reference.description, etag: validators?.etag,
      lastModified: validators?.lastModified, generated: report?.generated, over: connection)
  }

  private func recordFailure(_ failure: Failure, of feed: PolledFeed, _ connection: Connection) {
    do throws(PostgresError) {
      try FeedState.recordFailure(
        feed.name, url: feed.reference.description,
        error: failure.message + (failure.detail.map { ": \($0)" } ?? ""), over: connection)
    } catch {
      diagnostics.verbose("could not record the failure of \(feed.name): \(error)")
      if error.isConnectionLoss { self.connection = nil }
    }
  }
}
