/// A URL that may hold secrets: as it is asked for, and as it is shown.
///
/// Its description, and so whatever is made from it by interpolation, is the form that is shown.
public struct FeedURL: Sendable, Hashable {
  /// As it is asked for. It may hold secrets: nothing but the request needs it.
  public let text: String
  /// Without user name and password, and with `***` in place of what else may be secret.
  public let shown: String
  private let secrets: [String]

  /// A URL.
  ///
  /// - Parameter secrets: Pieces of it that are known to be secret, wherever they stand.
  public init(_ text: String, secrets: [String] = []) {
    let parts = URLSecrets(Self.hide(secrets, in: text))
    self.text = text
    shown = parts.shown
    self.secrets = secrets + URLSecrets(text).pieces
  }

  /// Whether a text that may be meant as a URL holds a secret itself. What stands in `${...}` only names
  /// one.
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

  /// A URL that this one leads to: what is secret here is secret there.
  public func leading(to text: String) -> FeedURL { FeedURL(text, secrets: secrets) }

  /// The same URL with something after it.
  func appending(_ text: String) -> FeedURL { leading(to: self.text + text) }

  /// A text in which secrets of the URL may stand, without them.
  func redact(_ message: String) -> String {
    let known =
      secrets.filter { $0.utf8.count >= 3 }
      + [URLText.userInfo(of: text)].compactMap {
        $0.map(String.init)
      }
    return Self.hide(known + URLText.passwords(of: text), in: message)
  }

  /// Masks the longest first, so that none leaves a piece of another one.
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
  /// As it is shown.
  public var description: String { shown }
}

extension FeedURL: ExpressibleByStringLiteral {
  /// A URL without secrets of its own.
  public init(stringLiteral text: String) { self.init(text) }
}
