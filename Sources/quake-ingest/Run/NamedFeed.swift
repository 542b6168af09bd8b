import Basics
import CommandLine
import QuakeFeed
import QuakeModel

/// A feed that `run` polls, as an option or a section of the configuration file names it.
struct NamedFeed {
  /// The option's value as written, or the name of the section.
  let text: String
  /// The name that the user gave it; nil: that of its address.
  let name: String?
  /// The feed that the value names, with its secrets.
  let feed: SecretText
  /// The interval; nil if the value has none.
  let every: Duration?
  /// What a section says of it beside that.
  var settings = FeedSettings()
  /// File, line and key of its address; nil if the command line names it.
  var place: String?
}

/// What a section of the configuration file says of a feed beside its name, address and interval.
struct FeedSettings {
  /// The data centre of its events; nil: the feed or its URL tells.
  var centre: DataCentre?
  /// Where its epicentres are expected; nil: anywhere.
  var region: EventFilter.BoundingBox?
  /// The longest time in which its server may send nothing; nil: as for all feeds.
  var timeout: Duration?
  /// The longest time of a download; nil: as for all feeds.
  var downloadTimeout: Duration?

  /// The options of its downloads; nil: those of all feeds.
  func clientOptions(_ common: FeedClient.Options) -> FeedClient.Options? {
    guard timeout != nil || downloadTimeout != nil else { return nil }
    var options = common
    if let timeout { options.setStallTimeout(timeout) }
    if let downloadTimeout {
      options.downloadTimeoutMilliseconds = Int(downloadTimeout.pollTimeout)
    }
    return options
  }
}

extension FeedClient.Options {
  /// Sets the longest time in which a server may send nothing, which is also the longest time of connecting.
  mutating func setStallTimeout(_ timeout: Duration) {
    stallTimeoutMilliseconds = Int(timeout.pollTimeout)
    connectTimeoutMilliseconds = min(connectTimeoutMilliseconds, stallTimeoutMilliseconds)
  }
}

/// The parts of a value of `--feed`: `NAME=FEED@DURATION`, of which the feed alone is necessary.
struct FeedText {
  /// The name; nil: the value has none.
  let name: String?
  /// The feed, as `FeedReference` reads it.
  let feed: String
  /// The interval; nil: the value has none.
  let every: Duration?

  /// The longest name in bytes: it must fit into the name of a section.
  private static let longestName = 40
  /// The form of a name, for messages.
  static let form = """
    a letter or digit, followed by up to \(longestName - 1) letters, digits, hyphens and underscores, all in lower case
    """

  /// Splits a value. An equals sign in a URL or after a slash belongs to the feed.
  init(_ text: String) {
    let timed = TimedValue(text)
    every = timed.duration
    let equals = timed.value.firstIndex(of: "=")
    let prefix = equals.map { timed.value[..<$0] } ?? ""
    guard let equals, !prefix.contains(where: { ":/?${.".contains($0) }) else {
      name = nil
      feed = timed.value
      return
    }
    name = String(prefix)
    feed = String(timed.value[timed.value.index(after: equals)...])
  }

  /// Whether a text may be the name of a feed.
  static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= longestName else { return false }
    func isWord(_ byte: UInt8) -> Bool {
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }
    return isWord(first) && text.utf8.allSatisfy { isWord($0) || $0 == 0x2D || $0 == 0x5F }
  }
}
