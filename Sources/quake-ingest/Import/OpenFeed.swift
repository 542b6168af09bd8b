import Basics
import CommandLine
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool

/// A feed that has been opened: its records, and the HTTP answer if there is one.
struct OpenFeed {
  var source: FeedImportSource
  var response: FeedResponse?
  /// How far its bytes have been read; nil if there are none.
  var measure: MeasuredSource?

  enum Outcome {
    case opened(OpenFeed)
    /// The feed has not changed since the last request.
    case notModified(FeedResponse)
    /// The body was kept, but cannot be read.
    case unreadable(OpenFeed, FeedError)
  }

  /// Opens a feed and reads enough of it to recognise its format.
  ///
  /// - Parameters:
  ///   - options: How to read it.
  ///   - keepsBody: Whether the body is kept, even if it cannot be read.
  static func open(
    _ reference: FeedReference, over way: FeedAccess, _ options: FeedReader.Options,
    keepsBody: Bool = false
  ) throws -> Outcome {
    var options = options
    var response: FeedResponse?
    var measure: MeasuredSource?
    let body: any ByteSource
    switch reference.location {
    case .file(let path):
      let file = try FileSource(
        path: path, onlyRegular: way.isReady, interrupt: { Signals.stopRequested }
      ).measured
      measure = file
      body = file
    case .standardInput:
      let input = FileDescriptorSource.standardInput(
        interrupt: { Signals.stopRequested }
      ).measured
      measure = input
      body = input
    case .url(let url):
      options.service = DataCentre(url: url.text)
      let answer: FeedResponse
      switch way {
      case .stream(let fetcher): answer = try fetcher.open(url: url)
      case .ready(let download):
        guard let download else { preconditionFailure("a URL that is polled is downloaded") }
        answer = try download.response()
      }
      if answer.isNotModified { return .notModified(answer) }
      guard !answer.isEmpty else {
        return .opened(OpenFeed(source: FeedImportSource(nil), response: answer))
      }
      response = answer
      measure = answer.measure
      body = answer.body
    }
    let spool =
      try keepsBody ? response?.spool ?? BodySpool(body, in: TemporaryFolder.path) : nil
    do throws(FeedError) {
      let reader = try FeedReader(
        source: spool ?? body, name: reference.description, options: options)
      return .opened(
        OpenFeed(
          source: FeedImportSource(reader, spool: spool), response: response, measure: measure))
    } catch {
      guard let spool else { throw error }
      return .unreadable(
        OpenFeed(source: FeedImportSource(nil, spool: spool), response: response), error)
    }
  }
}

/// Fetches feeds over HTTP. A request to stop ends the wait for an answer at once. A body that has begun to
/// arrive is work in progress, and may be finished if that does not take long.
final class FeedFetcher {
  private final class Progress {
    var hasAnswer = false
    /// When a stop was first seen.
    var stoppedAt: Duration?
  }

  /// How long a body may go on after a stop.
  private static let grace = Duration.seconds(2)

  private let progress = Progress()
  private let client: FeedClient
  /// The most bytes of a body, before and after decompression.
  let maximumBytes: Int

  init(_ settings: ImportSettings) {
    let progress = progress
    var options = settings.clientOptions
    options.interrupt = {
      guard Signals.stopRequested else { return false }
      guard progress.hasAnswer else { return true }
      let now = MonotonicClock.now()
      let stoppedAt = progress.stoppedAt ?? now
      progress.stoppedAt = stoppedAt
      return now - stoppedAt >= Self.grace
    }
    maximumBytes = options.maximumBodyBytes
    client = FeedClient(options: options)
  }

  /// Requests a feed; returns when the answer begins.
  func open(url: FeedURL) throws(FeedError) -> FeedResponse {
    progress.hasAnswer = false
    let response = try client.open(url: url)
    progress.hasAnswer = true
    return response
  }
}

/// How a command reads a feed's bytes.
enum FeedAccess {
  /// It reads them as they arrive, however long that takes.
  case stream(FeedFetcher)
  /// It does not wait: a URL has been downloaded already, and a file is a regular file.
  case ready(FeedDownload?)

  var isReady: Bool {
    if case .ready = self { true } else { false }
  }
}

/// The feed that a person names.
enum FeedName {
  /// Resolves a text, as `FeedReference` does; an unknown name gets the nearest known one as a hint.
  ///
  /// - Parameter others: Further names that the command knows.
  static func reference(
    _ text: SecretText, others: [String] = []
  ) throws(FeedError) -> FeedReference {
    do throws(FeedError) {
      return try FeedReference(text.text, secrets: text.secrets)
    } catch {
      guard error.code == .unknownFeed,
        let near = Suggestion.nearest(
          to: text.text.lowercased(), among: FeedReference.knownNames + others)
      else { throw error }
      throw FeedError(
        error.code, error.message, detail: error.detail,
        hint: "did you mean '\(near)'?" + (error.hint.map { " \($0)" } ?? ""))
    }
  }
}
