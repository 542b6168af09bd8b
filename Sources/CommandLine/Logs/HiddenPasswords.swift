/// Hides the passwords in text of messages: a message may quote the address of a database that stands where another
/// word is expected, and logs keep it.
enum HiddenPasswords {
  /// The text with an ellipsis for the user and password in a URL, and for the password of `keyword=value` pairs.
  static func text(_ text: String) -> String {
    var shown = text
    if shown.contains("://") { shown = withoutUserInfo(shown) }
    if shown.contains(keyword) { shown = withoutValues(shown) }
    return shown
  }

  private static let keyword = "password="
  private static let ellipsis = "..."

  private static func withoutUserInfo(_ text: String) -> String {
    var shown = ""
    var rest = text[...]
    while !rest.isEmpty {
      shown += rest.prefix(while: \.isWhitespace)
      rest = rest.drop(while: \.isWhitespace)
      let word = rest.prefix { !$0.isWhitespace }
      shown += withoutUserInfo(word: word)
      rest = rest[word.endIndex...]
    }
    return shown
  }

  /// Looks at each place of the word a bounded number of times: strangers send long addresses.
  private static func withoutUserInfo(word: Substring) -> String {
    guard let last = word.lastIndex(of: "@") else { return String(word) }
    var shown = ""
    var rest = word
    while let scheme = rest.firstRange(of: "://") {
      shown += rest[..<scheme.upperBound]
      rest = rest[scheme.upperBound...]
      guard rest.startIndex <= last else { break }
      if let end = endOfUserInfo(rest, last: last) {
        shown += ellipsis
        rest = rest[end...]
      }
    }
    return shown + rest
  }

  /// The at sign after a user and a password; nil if there is no password.
  ///
  /// - Parameter last: The last at sign of the word.
  private static func endOfUserInfo(_ address: Substring, last: String.Index) -> String.Index? {
    let authority = address.prefix { !"/?#".contains($0) }
    guard let colon = authority.firstIndex(of: ":"), authority.first != "[" else { return nil }
    if let at = authority.lastIndex(of: "@") { return at > colon ? at : nil }
    // The password has one of these characters, unless it is a port.
    let port = authority[colon...].dropFirst()
    return !port.isEmpty && port.allSatisfy { $0.isASCII && $0.isNumber } ? nil : last
  }

  private static func withoutValues(_ text: String) -> String {
    var shown = ""
    var rest = text[...]
    while let name = rest.firstRange(of: keyword) {
      shown += rest[..<name.upperBound] + ellipsis
      rest = rest[name.upperBound...]
      rest = rest.first == "'" ? afterQuoted(rest) : rest.drop { !$0.isWhitespace && $0 != "&" }
    }
    return shown + rest
  }

  /// What follows a value in single quotes, in which a backslash precedes a quote.
  private static func afterQuoted(_ text: Substring) -> Substring {
    var rest = text.dropFirst()
    while let character = rest.popFirst(), character != "'" {
      if character == "\\" { _ = rest.popFirst() }
    }
    return rest
  }
}
