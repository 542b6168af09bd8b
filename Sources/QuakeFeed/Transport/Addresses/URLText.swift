/// Reads the parts of a URL without a URL parser.
enum URLText {
  /// The scheme in lower case (`https`), when the text has one followed by `://`.
  static func scheme(of text: String) -> String? {
    guard let separator = text.utf8.firstIndex(ofBytes: "://") else { return nil }
    let scheme = text[..<separator].lowercased()
    let isScheme = scheme.utf8.allSatisfy {
      ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2B || $0 == 0x2D
        || $0 == 0x2E
    }
    return isScheme && !scheme.isEmpty ? scheme : nil
  }

  /// The part between `://` and the path.
  private static func authority(of url: String) -> Substring? {
    guard let separator = url.utf8.firstIndex(ofBytes: "://") else { return nil }
    return url[separator...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
  }

  /// The host, without brackets and port; nil if there is none.
  static func host(of url: String) -> String? {
    guard let authority = authority(of: url) else { return nil }
    let place = authority[
      (authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
    if place.first == "[" { return String(place.dropFirst().prefix { $0 != "]" }) }
    let host = place.prefix { $0 != ":" }
    return host.isEmpty ? nil : String(host)
  }

  /// The user name and password, as written, if there are any.
  static func userInfo(of url: String) -> Substring? {
    guard let authority = authority(of: url), let at = authority.lastIndex(of: "@") else {
      return nil
    }
    return authority[..<at]
  }

  /// The password, if there is one.
  static func passwords(of url: String) -> [String] {
    userInfo(of: url).map { [String($0.drop { $0 != ":" }.dropFirst())] } ?? []
  }

  /// The text with secrets masked, if it is or resembles a URL.
  static func redacted(_ url: String) -> String { URLSecrets(url).shown }

  /// A short label: the last component of the path without its extension, else the host.
  static func label(of url: String) -> String {
    guard let authority = authority(of: url) else { return url }
    let path = url[authority.endIndex...].prefix { $0 != "?" && $0 != "#" }
    if let component = path.split(separator: "/").last(where: { !$0.contains(URLSecrets.mask) }) {
      return String(withoutExtension(component))
    }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
    return String(host)
  }

  /// A file's extension: letters and digits after the last dot, beginning with a letter, so that
  /// `4.5_day` has none.
  static func fileExtension(of name: some StringProtocol) -> Substring? {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    let ending = Substring(name[name.index(after: dot)...])
    guard let first = ending.utf8.first, (0x41...0x5A).contains(first & 0xDF) else { return nil }
    let isExtension = ending.utf8.allSatisfy {
      (0x41...0x5A).contains($0 & 0xDF) || (0x30...0x39).contains($0)
    }
    return isExtension ? ending : nil
  }

  private static func withoutExtension(_ name: Substring) -> Substring {
    var name = name
    if fileExtension(of: name) == "gz" { name = name.dropLast(3) }
    guard let ending = fileExtension(of: name), ending.count + 1 < name.count else { return name }
    return name.dropLast(ending.count + 1)
  }
}
