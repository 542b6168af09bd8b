/// The user and the password for a broker, from a file: the user on the first line, the password on the second.
package struct MQTTCredentials: Hashable, Sendable {
  package let user: String
  /// Nil if the broker knows the user by the name alone.
  package let password: String?

  /// The most bytes of a file.
  package static let longest = 4096

  /// A text that is none.
  package struct Invalid: Error {
    /// What was expected instead.
    package let expected: String
  }

  package init(_ text: String) throws(Invalid) {
    let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      .map { String(Substring($0.last == 0x0D ? $0.dropLast() : $0)) }
    guard let user = lines.first, !user.isEmpty, !text.utf8.contains(0),
      lines.dropFirst(2).allSatisfy(\.isEmpty)
    else {
      throw Invalid(expected: "the user on the first line and the password on the second")
    }
    self.user = user
    password = lines.count > 1 && !lines[1].isEmpty ? lines[1] : nil
  }
}
