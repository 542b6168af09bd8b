package import Basics
internal import CLibcrypto
internal import QuakeConsumers

/// Posts messages to a receiver, with the headers of Standard Webhooks.
///
/// libcurl keeps the connection for the next request.
final class WebhookSink: Sink {
  private let plan: WebhookPlan
  private let loop: CurlLoop

  init(_ plan: WebhookPlan, loop: CurlLoop) {
    self.plan = plan
    self.loop = loop
  }

  func begin(_ messages: [Message]) -> any DeliveryAttempt {
    let body = plan.form.body(messages, asArray: plan.isBatch)
    do throws(LibraryProblem) {
      return try WebhookAttempt(
        plan, sends: plan.compresses ? Self.compressed(body) : body,
        headers: headers(id: Self.id(of: messages), body), loop: loop)
    } catch {
      let hint = error.hint.map { " \($0)" } ?? ""
      return DecidedAttempt(
        .failed(DeliveryFailure("could not begin a request: \(error.detail)\(hint)")))
    }
  }

  /// The id of a request: that of its message. A batch may be repeated with other messages, and then has another id, or a
  /// receiver that remembers ids would take the others for known.
  static func id(of messages: [Message]) -> String {
    guard messages.count > 1, let first = messages.first else { return messages.first?.id ?? "" }
    let ids = Array(messages.map(\.id).joined(separator: "\n").utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    var size: UInt32 = 0
    // It fails for lack of memory only.
    let result = EVP_Digest(ids, ids.count, &digest, &size, EVP_sha256(), nil)
    precondition(result == 1, "libcrypto could not make a digest")
    let text = digest.prefix(16).map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined()
    return "\(first.id)+\(messages.count - 1)-\(text)"
  }

  private func headers(id: String, _ body: [UInt8]) -> [String] {
    let timestamp = WallClock.microseconds / 1_000_000
    var headers = [
      "Content-Type: \(plan.form.mediaType(isArray: plan.isBatch))",
      "webhook-id: \(id)", "webhook-timestamp: \(timestamp)",
      // libcurl would wait for the receiver's permission to send a long body, and few give it.
      "Expect:",
    ]
    if plan.compresses { headers.append("Content-Encoding: gzip") }
    if !plan.keys.isEmpty {
      // Receivers verify what they read, and most have decompressed it by then.
      let signatures = WebhookKey.signatures(plan.keys, id: id, timestamp: timestamp, body: body)
      headers.append("webhook-signature: \(signatures)")
    }
    return headers + plan.headers
  }

  private static func compressed(_ body: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    let compressor = GzipCompressor()
    // It throws only what its closure throws.
    try? body.withUnsafeBytes { bytes in
      try compressor.compress(bytes) { result += $0 }
      try compressor.finish { result += $0 }
    }
    return result
  }
}

/// How messages are posted to a receiver.
package struct WebhookPlan: SinkPlan {
  package let url: ReceiverURL
  package var form = MessageForm.json(nil)
  /// Whether the body is an array, also of a single message: a consumer with batches.
  package var isBatch = false
  /// The keys that sign; empty: requests are not signed.
  package var keys: [WebhookKey] = []
  /// Header fields to send, such as `Authorization: Bearer ...`. They are secrets.
  package var headers: [String] = []
  /// Whether the body is compressed with gzip.
  package var compresses = false
  /// The most time for a connection, with name resolution and TLS.
  package var connectTimeout = Duration.seconds(10)
  /// The most time for the whole request.
  package var timeout = Duration.seconds(30)
  /// Whether redirects are followed from https to http, to an address that is nearer to this machine than the server
  /// that redirects, and to another host with `headers`.
  package var trustsRedirects = false
  /// Whether libcurl may use a proxy from the environment (`Environment.namesProxy`). The address of a connection is
  /// then that of the proxy, and only literal addresses in redirects are checked.
  package var mayUseProxy = false
  /// A PEM file with the certificate authorities to trust instead of the system's.
  package var certificateAuthorityFile: String?
  package var userAgent = "quake-watch"
  /// Determines the kind of an address. Tests replace it, because all their addresses are loopback ones.
  package var addressKind: @Sendable (String) -> AddressKind? = { AddressKind($0) }

  static let mostRedirects = 5

  package init(_ url: ReceiverURL) {
    self.url = url
  }

  package var shown: String { "webhook \(url.shown)" }

  package func sink(in loop: CurlLoop) -> any Sink { WebhookSink(self, loop: loop) }
}

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
    do throws(LibraryProblem) { try Curl.load() } catch {
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
