import Glibc

/// A feed as a user names it: one of USGS's names, a URL, a file, or `-` for standard input.
public struct FeedReference: Sendable, Hashable {
  /// Where the feed is.
  public enum Location: Sendable, Hashable {
    /// An `http` or `https` URL, as given: it may hold a password, so print `description` instead.
    case url(String)
    /// A path.
    case file(String)
    /// Standard input.
    case standardInput
  }

  /// Where USGS publishes its summary feeds.
  public static let usgsBaseURL = "https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary"

  /// The names of USGS's summary feeds: what magnitudes, over what time.
  public static let knownNames: [String] = ["significant", "4.5", "2.5", "1.0", "all"].flatMap {
    magnitudes in ["hour", "day", "week", "month"].map { "\(magnitudes)_\($0)" }
  }

  /// Where the feed is.
  public let location: Location
  /// A short label for logs and for `FeedReader`, free of secrets: the feed's name, the last part of
  /// the path, or `stdin`.
  public let name: String

  /// Finds out what `text` names.
  ///
  /// A known name wins over a file of that name (write `./all_day` for the file). Throws
  /// `.unknownFeed` for what looks like a name but is none, `.fileNotFound` for a path where nothing
  /// is, and `.invalidReference` for the rest.
  ///
  /// - Parameter baseURL: where the named feeds are; another for a mirror, or for tests.
  public init(_ text: String, baseURL: String = Self.usgsBaseURL) throws(FeedError) {
    if text == "-" {
      location = .standardInput
      name = "stdin"
    } else if Self.knownNames.contains(text) {
      let base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
      location = .url("\(base)/\(text).geojson")
      name = text
    } else if let scheme = URLText.scheme(of: text) {
      guard scheme == "http" || scheme == "https" else {
        throw FeedError(
          .invalidReference, "cannot fetch \"\(URLText.redacted(text))\"",
          detail: "Only http and https URLs are supported, not \(scheme).",
          hint: scheme == "file" ? "Give the file's path instead." : nil)
      }
      location = .url(text)
      name = URLText.label(of: text)
    } else {
      try Self.checkFile(text)
      location = .file(text)
      name = text.split(separator: "/").last.map(String.init) ?? text
    }
  }

  private static func checkFile(_ path: String) throws(FeedError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw FeedError(
        .invalidReference, "the name of the feed is empty or contains NUL",
        hint: "Give a feed's name, a URL, a file, or - for standard input.")
    }
    guard access(path, F_OK) != 0 else { return }
    let failure = errno
    let looksLikeName = !path.contains("/") && URLText.fileExtension(of: path) == nil
    guard !looksLikeName else {
      throw FeedError(
        .unknownFeed, "unknown feed \"\(path)\"",
        detail: "The feeds are \(knownNames.joined(separator: ", ")).",
        hint: "Give one of these, a URL, a file, or - for standard input.")
    }
    throw FeedError(
      failure == ENOENT || failure == ENOTDIR ? .fileNotFound : .unreadable,
      "could not open file \"\(path)\"", detail: SystemError.sentence(failure))
  }
}

extension FeedReference: CustomStringConvertible {
  /// The URL without user name and password, the path, or `standard input`.
  public var description: String {
    switch location {
    case .url(let url): URLText.redacted(url)
    case .file(let path): path
    case .standardInput: "standard input"
    }
  }
}
