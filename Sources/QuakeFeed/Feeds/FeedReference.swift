internal import Basics
import Glibc
public import QuakeModel

/// A feed as a user names it: one of USGS's names, a URL, a file, or `-` for standard input.
public struct FeedReference: Sendable, Hashable {
  /// Where the feed is.
  public enum Location: Sendable, Hashable {
    /// An `http` or `https` URL.
    case url(FeedURL)
    case file(String)
    case standardInput
  }

  /// Where USGS publishes its summary feeds.
  public static let usgsBaseURL = "https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary"

  /// The names of USGS's summary feeds, each made of a threshold and a window.
  public static let knownNames = SummaryFeed.all.map(\.name)

  /// The most bytes of a name, a path or a URL.
  public static let maximumBytes = 8192

  /// Where the feed is.
  public let location: Location
  /// A short label for logs and for `FeedReader`, without secrets: the feed's name, the last part of the
  /// path, or `stdin`.
  public let name: String

  /// Resolves a text.
  ///
  /// A known name has precedence over a file of that name (write `./all_day` for the file). Throws
  /// `.unknownFeed` for an unknown name, `.fileNotFound` for a path without a file, and `.invalidReference`
  /// for other texts.
  ///
  /// - Parameter secrets: Parts of a URL that must not be printed, in addition to those that are recognised.
  public init(_ text: String, secrets: [String] = []) throws(FeedError) {
    guard text.utf8.count <= Self.maximumBytes else {
      throw FeedError(
        .invalidReference,
        "the name of the feed is too long: \(text.utf8.count) bytes, where \(Self.maximumBytes) are allowed"
      )
    }
    if text == "-" {
      location = .standardInput
      name = "stdin"
    } else if Self.knownNames.contains(text) {
      location = .url(FeedURL("\(Self.usgsBaseURL)/\(text).geojson"))
      name = text
    } else if let scheme = URLText.scheme(of: text) {
      guard scheme == "http" || scheme == "https" else {
        throw FeedError(
          .invalidReference, "cannot fetch \"\(FeedURL(text, secrets: secrets))\"",
          detail: "Only http and https URLs are supported, not \(scheme).",
          hint: scheme == "file" ? "Give the file's path instead." : nil)
      }
      let url = FeedURL(text, secrets: secrets)
      guard URLText.host(of: text) != nil else { throw Self.incomplete(url) }
      location = .url(url)
      name = URLText.label(of: url.shown)
    } else if ["http:", "https:"].contains(where: { text.lowercased().hasPrefix($0) }) {
      throw Self.incomplete(FeedURL(text, secrets: secrets))
    } else {
      try Self.checkFile(text)
      location = .file(text)
      name = text.split(separator: "/").last.map(String.init) ?? text
    }
  }

  /// A feed at a URL.
  public init(_ url: FeedURL) {
    location = .url(url)
    name = URLText.label(of: url.shown)
  }

  /// Whether the feed is at a URL.
  public var isURL: Bool {
    if case .url = location { true } else { false }
  }

  private static func incomplete(_ url: FeedURL) -> FeedError {
    FeedError(
      .invalidReference, "cannot fetch \"\(url)\"",
      detail: "Two slashes and a host must follow the scheme.")
  }

  private static func checkFile(_ path: String) throws(FeedError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw FeedError(
        .invalidReference, "the name of the feed is empty or contains NUL",
        hint: "Give a feed's name, a URL, a file, or - for standard input.")
    }
    guard access(path, F_OK) != 0 else { return }
    let failure = errno
    // It may be a URL that lacks its scheme.
    let shown = URLText.redacted(path)
    let looksLikeName = !path.contains("/") && URLText.fileExtension(of: path) == nil
    guard !looksLikeName else {
      throw FeedError(
        .unknownFeed, "unknown feed \"\(shown)\"",
        detail: "The feeds are \(knownNames.joined(separator: ", ")).",
        hint: "Give one of these, a URL, a file, or - for standard input.")
    }
    throw FeedError(
      failure == ENOENT || failure == ENOTDIR ? .fileNotFound : .unreadable,
      "could not open file \"\(shown)\"", detail: SystemFailure(failure).sentence)
  }
}

extension FeedReference: CustomStringConvertible {
  /// The URL without secrets, the path, or `standard input`.
  public var description: String {
    switch location {
    case .url(let url): url.shown
    case .file(let path): path
    case .standardInput: "standard input"
    }
  }
}

extension FeedReference {
  /// Whether the feed can be read from its beginning a second time.
  public var canBeReadAgain: Bool {
    switch location {
    case .url: true
    case .standardInput: false
    case .file(let path): FileSource.kind(of: path) == .regular
    }
  }
}

extension FeedReference {
  /// The scope of the feed, if it is one of USGS's summary feeds. The name is also recognised within that of
  /// a URL or a file (`usgs_all_day_2026-08-15T0040Z.csv`). Nil for other feeds.
  public var scope: FeedScope? { Self.scope(of: name) }

  /// The scope of a feed of that name; nil if it is unknown.
  public static func scope(of name: String) -> FeedScope? {
    summaryName(in: name).flatMap { SummaryFeed(name: $0) }.map { feed in
      FeedScope(
        name: feed.name, source: "usgs", window: feed.window.seconds,
        minimumMagnitude: feed.threshold.magnitude,
        isSelective: feed.threshold == .significant)
    }
  }

  /// The name of the summary feed that a file or a URL is named after; nil if there is none in it.
  public static func summaryName(in name: String) -> String? {
    knownNames.first { known in
      var rest = Substring(name)
      while let found = rest.firstRange(of: known) {
        let before =
          found.lowerBound == name.startIndex ? nil : name[name.index(before: found.lowerBound)]
        let after = found.upperBound == name.endIndex ? nil : name[found.upperBound]
        if !isWordCharacter(before), !isWordCharacter(after) { return true }
        rest = name[found.upperBound...]
      }
      return false
    }
  }

  private static func isWordCharacter(_ character: Character?) -> Bool {
    character.map { $0.isLetter || $0.isNumber } ?? false
  }
}
