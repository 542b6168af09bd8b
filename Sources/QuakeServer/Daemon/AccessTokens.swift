package import Basics
import CLibcrypto

/// Bearer tokens that allow something, such as edits. The server knows only their hashes.
package struct AccessTokens: Sendable {
  private struct Entry {
    let name: String
    let hash: [UInt8]
  }

  private let entries: [Entry]

  /// No tokens: nobody may.
  package init() {
    entries = []
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Tokens from texts `NAME:HASH`, where the hash is the SHA-256 of the token in hexadecimal digits, and the name
  /// has 1 to 200 bytes.
  package init(_ texts: [String]) throws(InvalidAccessToken) {
    entries = try texts.map { text throws(InvalidAccessToken) in
      guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
        let hash = Self.bytes(text[text.index(after: colon)...]), hash.count == 32,
        text[..<colon].utf8.count <= 200
      else { throw InvalidAccessToken() }
      return Entry(name: String(text[..<colon]), hash: hash)
    }
  }

  private static func bytes(_ digits: Substring) -> [UInt8]? {
    let digits = Array(digits)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// The name of the token in a value of `Authorization`.
  ///
  /// - Parameter refusal: What a client is told if the server has no tokens at all.
  /// - Throws: `HTTPError` 401 if there is none or it is not valid, 403 if the server has no tokens at all.
  func author(
    of header: String?, otherwise refusal: @autoclosure () -> String
  ) throws(HTTPError) -> String {
    guard !entries.isEmpty else { throw HTTPError(403, refusal()) }
    guard let token = Self.token(in: header) else {
      throw HTTPError(
        401, "This request needs a bearer token.", ["WWW-Authenticate": "Bearer realm=\"quake\""])
    }
    guard let author = name(of: token) else {
      throw HTTPError(
        401, "The bearer token is not valid.",
        ["WWW-Authenticate": "Bearer realm=\"quake\", error=\"invalid_token\""])
    }
    return author
  }

  /// Whether a value of `Authorization` has one of the tokens.
  func allow(_ header: String?) -> Bool {
    !entries.isEmpty && Self.token(in: header).flatMap { name(of: $0) } != nil
  }

  private static func token(in header: String?) -> Substring? {
    guard let header, header.utf8.count <= 4096, header.lowercased().hasPrefix("bearer ") else {
      return nil
    }
    return header.dropFirst(7).drop { $0 == " " }
  }

  private func name(of token: Substring) -> String? {
    let text = Array(token.utf8)
    var hash = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(text, text.count, &hash)
    var found: String?
    // Each hash is compared whole, and all of them, so that the time taken reveals nothing about a valid one.
    for entry in entries where CRYPTO_memcmp(entry.hash, hash, hash.count) == 0 {
      found = entry.name
    }
    return found
  }
}

/// A token is not of the form `NAME:HASH`. The message does not show it.
package struct InvalidAccessToken: ExplainedError {
  package private(set) var message = "a token is not of the form NAME:HASH"
  package let detail: String? = "The hash is the SHA-256 of the token, as 64 hexadecimal digits."
  package let hint: String? =
    "Make one with: printf %s \"$TOKEN\" | sha256sum"
  package let category = ErrorCategory.usage

  /// The same error with its place before the message.
  package func located(_ place: String) -> InvalidAccessToken {
    var located = self
    located.message = "\(place): \(message)"
    return located
  }
}
