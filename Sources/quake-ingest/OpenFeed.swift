import CommandLine
import QuakeFeed
import QuakeModel
import QuakeStore
import QuakeTool

/// A feed that has been opened, wherever it is: the records, and what the HTTP answer said.
struct OpenFeed {
  var source: FeedImportSource
  var response: FeedResponse?

  /// The result of opening a feed.
  enum Outcome {
    case opened(OpenFeed)
    /// The version one has is still the newest.
    case notModified(FeedResponse)
  }

  /// Opens a feed and reads as much as is needed to tell its format.
  ///
  /// - Parameter centre: Whose catalogue it is if it is FDSN text; nil: a URL tells.
  static func open(
    _ reference: FeedReference, fetcher: FeedFetcher, validators: FeedValidators? = nil,
    strict: Bool, centre: DataCentre? = nil
  ) throws -> Outcome {
    var options = FeedReader.Options()
    options.strict = strict
    options.centre = centre
    switch reference.location {
    case .file(let path):
      let reader = try FeedReader(
        source: try FileSource(path: path, interrupt: { Signals.stopRequested }),
        name: reference.description, options: options)
      return .opened(OpenFeed(source: FeedImportSource(reader)))
    case .standardInput:
      let reader = try FeedReader(
        source: FileDescriptorSource.standardInput(interrupt: { Signals.stopRequested }),
        name: "standard input", options: options)
      return .opened(OpenFeed(source: FeedImportSource(reader)))
    case .url(let url):
      options.centre = centre ?? DataCentre(url: url)
      let response = try fetcher.open(url: url, validators: validators)
      if response.isNotModified { return .notModified(response) }
      guard !response.isEmpty else {
        return .opened(OpenFeed(source: FeedImportSource(nil), response: response))
      }
      let reader = try FeedReader(
        source: response.body, name: reference.description, options: options)
      return .opened(OpenFeed(source: FeedImportSource(reader), response: response))
    }
  }

  /// Completes the options of an import with what the HTTP answer said.
  func describe(in options: inout ImportOptions) {
    guard let response else { return }
    options.httpStatus = response.status
    options.etag = response.validators.etag
    options.lastModified = response.validators.lastModified
    options.generated = options.generated ?? response.lastModified ?? response.date
  }
}
