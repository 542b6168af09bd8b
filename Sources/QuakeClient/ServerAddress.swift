internal import QuakeModel

/// Where a `quake-serve` is, and the header fields that a proxy in front of it requires.
///
/// User and password are kept apart from the address, so that no message can contain them.
package struct ServerAddress: Sendable {
  /// Why a text is not an address.
  package struct Invalid: Error {
    /// The expected form, for the end of a sentence.
    package let expected: String
  }

  /// Scheme, host, port and path, without user, password and final slashes.
  package let shown: String
  let user: String?
  let password: String?
  /// Header fields to send with each request, such as `Authorization: Bearer ...`.
  package var headers: [String] = []

  /// The longest address in bytes.
  private static let longest = 2048

  /// Reads `http://HOST:PORT`, with `https`, a user and password, and a path if there are some.
  package init(_ text: String) throws(Invalid) {
    guard text.utf8.count <= Self.longest else {
      throw Invalid(expected: "at most \(Self.longest) bytes")
    }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C && $0 != 0x22 }) else {
      throw Invalid(expected: "an address without spaces, quotes and letters beyond ASCII")
    }
    let lower = text.lowercased()
    guard let scheme = ["http://", "https://"].first(where: { lower.hasPrefix($0) }) else {
      throw Invalid(expected: "the address of a quake-serve, such as http://127.0.0.1:8080")
    }
    let rest = text.dropFirst(scheme.count)
    guard !rest.contains("?"), !rest.contains("#") else {
      throw Invalid(
        expected: "an address without ? and #: options such as --min-magnitude select changes")
    }
    var authority = rest.prefix { $0 != "/" }
    let path = rest[authority.endIndex...]
    if let at = authority.lastIndex(of: "@") {
      let parts = authority[..<at].split(
        separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let user = Self.decode(parts[0]),
        let password = Self.decode(parts.dropFirst().first ?? "")
      else {
        throw Invalid(expected: "a user and a password in which each % has two digits after it")
      }
      (self.user, self.password) = (user, password)
      authority = authority[authority.index(after: at)...]
    } else {
      (user, password) = (nil, nil)
    }
    guard let first = authority.first, first != ":" else {
      throw Invalid(expected: "the name of a host after \(scheme)")
    }
    var shown = scheme + authority + path
    while shown.hasSuffix("/") { shown.removeLast() }
    // People copy the address of the stream as well.
    if shown.hasSuffix("/v1/changes") { shown.removeLast("/v1/changes".count) }
    self.shown = shown
  }

  /// A part of an address in which `%41` stands for `A`; nil if that is malformed.
  private static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(),
        let escaped = PercentEncoding.byte(high, low), escaped != 0
      else { return nil }
      bytes.append(escaped)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The URL of a resource of the server.
  func url(_ path: String, _ parameters: [(name: String, value: String)]) -> String {
    let query = parameters.map { "\($0.name)=\(PercentEncoding.text($0.value))" }
    return shown + path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }
}

/// Reads header fields for requests from the text of a file: one `Name: value` a line.
package enum HeaderFile {
  /// Why a text is not such a file. The value of a field may be a secret, so only the line's number is named.
  package struct Invalid: Error {
    /// The line, from 1.
    package let line: Int
    /// The expected content, for the end of a sentence.
    package let expected: String
  }

  /// The largest file in bytes.
  package static let longest = 16 << 10

  /// The fields of a file. Empty lines are ignored.
  package static func read(_ bytes: [UInt8]) throws(Invalid) -> [String] {
    var fields: [String] = []
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      var line = line
      while let last = line.last, last == 0x0D || last == 0x20 || last == 0x09 { line.removeLast() }
      if line.isEmpty { continue }
      let name = line.prefix { $0 != 0x3A }
      guard name.count < line.count, !name.isEmpty, name.allSatisfy(isNameByte) else {
        throw Invalid(line: index + 1, expected: "Name: value")
      }
      // A control character could begin another field.
      let value = line[(name.endIndex + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
      guard !value.isEmpty, value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        throw Invalid(line: index + 1, expected: "a value without control characters")
      }
      fields.append(
        String(decoding: name, as: UTF8.self) + ": " + String(decoding: value, as: UTF8.self))
    }
    return fields
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
