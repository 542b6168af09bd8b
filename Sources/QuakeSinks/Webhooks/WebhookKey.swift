internal import Basics
internal import CLibcrypto

/// A key that signs requests, as Standard Webhooks prescribes: `whsec_` and base64.
package struct WebhookKey: Hashable, Sendable, CustomStringConvertible {
  /// Why a text holds no keys. The line may be a secret, so only its number is named.
  package struct Invalid: Error, Equatable {
    /// The line, from 1; 0: the whole text.
    package let line: Int
    /// The expected content, for the end of a sentence.
    package let expected: String
  }

  /// How many bytes a key may have.
  private static let sizes = 24...64
  private static let beginning = Array("whsec_".utf8)

  private let bytes: [UInt8]

  /// Nothing of it, so that no message can contain it.
  package var description: String { MaskedText.mask }

  /// The keys of a file: one or, while they are changed, two, a line each. Empty lines are ignored.
  package static func read(_ file: [UInt8]) throws(Invalid) -> [WebhookKey] {
    var keys: [WebhookKey] = []
    let lines = file.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x0D || byte == 0x09 }
      var line = line.drop(while: isSpace)
      while let last = line.last, isSpace(last) { line.removeLast() }
      if line.isEmpty { continue }
      guard line.starts(with: beginning), let key = decode(line.dropFirst(beginning.count)),
        sizes.contains(key.count)
      else {
        throw Invalid(
          line: index + 1,
          expected: """
            a key: whsec_ and \(sizes.lowerBound) to \(sizes.upperBound) random bytes in base64, as \
            "echo whsec_$(openssl rand -base64 32)" prints one
            """)
      }
      keys.append(WebhookKey(bytes: key))
    }
    guard (1...2).contains(keys.count) else {
      throw Invalid(line: 0, expected: "one key, or two while they are changed, a line each")
    }
    return keys
  }

  /// The value of `webhook-signature`: a signature for each key.
  static func signatures(
    _ keys: [WebhookKey], id: String, timestamp: Int64, body: [UInt8]
  ) -> String {
    let content = Array("\(id).\(timestamp).".utf8) + body
    return keys.map { "v1," + encode($0.code(of: content)) }.joined(separator: " ")
  }

  /// HMAC with SHA-256 (RFC 2104).
  private func code(of content: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    // It fails for lack of memory only.
    let result = HMAC(
      EVP_sha256(), bytes, Int32(bytes.count), content, content.count, &code, nil)
    precondition(result != nil, "libcrypto could not make a message's code")
    return code
  }

  /// The key in base64, which no answer must repeat.
  var secret: String { Self.encode(bytes) }

  static func encode(_ bytes: [UInt8]) -> String {
    // Four letters for three bytes, and a NUL.
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
    return String(decoding: text.prefix(Int(count)), as: UTF8.self)
  }

  /// The bytes of base64 with or without padding; nil for anything else.
  private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var text = Array(text)
    let written = text.count
    while text.last == UInt8(ascii: "="), written - text.count < 2 { text.removeLast() }
    let padding = (4 - text.count % 4) % 4
    guard padding < 3, text.count == written || (text.count + padding) == written,
      !text.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "-") })
    else { return nil }
    text += repeatElement(UInt8(ascii: "="), count: padding)
    var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
    guard EVP_DecodeBlock(&bytes, text, Int32(text.count)) == bytes.count else { return nil }
    return Array(bytes.dropLast(padding))
  }
}
