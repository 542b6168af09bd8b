import CommandLine
import QuakeFeed
import QuakeTool

/// Fetches feeds over HTTP so that a stop ends the wait for an answer, but not the reading of a body
/// that has begun: that is the work in hand.
final class FeedFetcher {
  private final class Progress {
    var hasAnswer = false
  }

  private let progress = Progress()
  private let client: FeedClient

  /// - Parameters:
  ///   - timeoutMilliseconds: How long a server may send nothing; nil for the library's own.
  ///   - whileWaiting: Called now and then while a server is waited for.
  init(timeoutMilliseconds: Int?, whileWaiting: @escaping () -> Void = {}) {
    let progress = progress
    var options = FeedClient.Options(
      version: productVersion,
      interrupt: {
        whileWaiting()
        return Signals.stopRequested && !progress.hasAnswer
      })
    if let timeoutMilliseconds {
      options.stallTimeoutMilliseconds = timeoutMilliseconds
      options.connectTimeoutMilliseconds = min(
        options.connectTimeoutMilliseconds, timeoutMilliseconds)
    }
    client = FeedClient(options: options)
  }

  /// Asks for a feed; returns when the answer begins.
  func open(url: String, validators: FeedValidators?) throws(FeedError) -> FeedResponse {
    progress.hasAnswer = false
    let response = try client.open(url: url, validators: validators)
    progress.hasAnswer = true
    return response
  }
}
