internal import Basics

/// The address of a receiver, with a form without its secrets.
package struct ReceiverURL: Hashable, Sendable, CustomStringConvertible {
  /// Why a text is no such address.
  package struct Invalid: Error, Equatable {
    /// The expected form, for the end of a sentence.
    package let expected: String
  }

  /// The longest address in bytes.
  package static let longest = 2048

  /// The whole address. Use it only for the request.
  let text: String
  /// Scheme, host and port: the path of a webhook is often what only its owner knows.
  package let shown: String
  let host: String
  /// What answers and errors must not repeat.
  let secrets: [String]

  package var description: String { shown }

  /// Reads an address of http or https.
  package init(_ text: String) throws(Invalid) {
    guard text.utf8.count <= Self.longest else {
      throw Invalid(expected: "at most \(Self.longest) bytes")
    }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C && $0 != 0x22 }) else {
      throw Invalid(expected: "an address without spaces, quotes and letters beyond ASCII")
    }
    do throws(Curl.Problem) { try Curl.load() } catch {
      throw Invalid(expected: "libcurl to be installed. \(error.detail) \(error.hint ?? "")")
    }
    // libcurl takes one slash or three, too.
    let beginning = text.lowercased()
    guard let scheme = ["http://", "https://"].first(where: { beginning.hasPrefix($0) }),
      !beginning.hasPrefix(scheme + "/"), let parts = CurlURL(text),
      scheme.hasPrefix("\(parts.scheme):")
    else { throw Invalid(expected: "an address such as https://example.org/hook") }
    self.text = text
    host = parts.host
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let path = rest[authority.endIndex...]
    let pieces = authority.split(separator: "@", omittingEmptySubsequences: false)
    shown =
      "\(scheme)\(pieces.last ?? "")" + (path.count > 1 ? "/\(MaskedText.mask)" : "")
    var secrets: [Substring] = [path]
    for piece in pieces.dropLast() {
      secrets.append(piece)
      secrets += piece.split(separator: ":")
      // As a request has it: "Authorization: Basic ...".
      let bytes = SecretPieces.letters(of: Array(piece.utf8)).map(\.byte)
      secrets.append(Substring(WebhookKey.encode(bytes)))
    }
    secrets += path.split { "/?#&=;".contains($0) }
    // A short word is no secret, and would be masked in the middle of others.
    self.secrets = secrets.filter { $0.utf8.count >= 6 }.map(String.init)
  }
}
