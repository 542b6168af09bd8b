/// A URL that may contain secrets, with a form without them.
///
/// Its description, which string interpolation uses, has no secrets.
public struct FeedURL: Sendable, Hashable {
  /// The full URL, which may contain secrets. Use it only for the request.
  public let text: String
  /// The URL without user name and password, and with `***` in place of other possible secrets.
  public let shown: String
  private let secrets: [String]

  /// A URL.
  ///
  /// - Parameter secrets: Parts of it that are known to be secret.
  public init(_ text: String, secrets: [String] = []) {
    let parts = URLSecrets(Self.hide(secrets, in: text))
    self.text = text
    shown = parts.shown
    self.secrets = secrets + URLSecrets(text).pieces
  }

  /// Whether a text that may be a URL contains a secret. A `${...}` only names one.
  public static func holdsSecret(_ text: String) -> Bool {
    URLSecrets(text).values.contains { value in
      var left = ""
      var rest = Substring(value)
      while let start = rest.firstRange(of: "${") {
        left += rest[..<start.lowerBound]
        rest = rest[start.upperBound...].drop { $0 != "}" }.dropFirst()
      }
      return !(left + rest).isEmpty
    }
  }

  /// A URL to which this one redirects. The secrets of this one are also secret there.
  public func leading(to text: String) -> FeedURL { FeedURL(text, secrets: secrets) }

  /// The URL with a suffix.
  func appending(_ text: String) -> FeedURL { leading(to: self.text + text) }

  /// A text with the secrets of the URL masked.
  func redact(_ message: String) -> String {
    let known =
      secrets.filter { $0.utf8.count >= 3 }
      + [URLText.userInfo(of: text)].compactMap {
        $0.map(String.init)
      }
    return Self.hide(known + URLText.passwords(of: text), in: message)
  }

  /// Masks the longest secret first, so that no part of one remains.
  private static func hide(_ secrets: [String], in text: String) -> String {
    secrets.sorted { $0.utf8.count > $1.utf8.count }.reduce(text) { text, secret in
      guard !secret.isEmpty, secret != URLSecrets.mask else { return text }
      var result = ""
      var rest = Substring(text)
      while let start = rest.utf8.firstIndex(ofBytes: secret) {
        result += rest[..<start] + URLSecrets.mask
        rest = rest[rest.utf8.index(start, offsetBy: secret.utf8.count)...]
      }
      return result + rest
    }
  }
}

extension FeedURL: CustomStringConvertible {
  /// The URL without secrets.
  public var description: String { shown }
}

extension FeedURL: ExpressibleByStringLiteral {
  /// A URL that contains no secrets.
  public init(stringLiteral text: String) { self.init(text) }
}
