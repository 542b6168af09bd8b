internal import Basics

/// A URL that may contain secrets, with a form without them.
///
/// Its description, which string interpolation uses, has no secrets.
public struct FeedURL: Sendable, Hashable {
  /// The full URL, which may contain secrets. Use it only for the request.
  public let text: String
  /// The URL without user name and password, and with `***` in place of other possible secrets.
  public let shown: String
  private let secrets: Set<String>

  /// A URL.
  ///
  /// - Parameter secrets: Parts of it that are known to be secret.
  public init(_ text: String, secrets: [String] = []) {
    let parts = URLSecrets(MaskedText.hide(secrets, in: text))
    self.text = text
    shown = parts.shown
    self.secrets = Set((secrets + URLSecrets(text).pieces).flatMap(Self.forms))
  }

  /// How a server may repeat a secret that is percent-encoded in the URL: as it is, decoded, and with hexadecimal digits
  /// of the other case.
  private static func forms(of secret: String) -> [String] {
    guard secret.utf8.contains(UInt8(ascii: "%")) else { return [secret] }
    var (decoded, lower, upper): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
    var rest = Substring(secret).utf8
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      guard byte == UInt8(ascii: "%"), digits.count == 2,
        let value = UInt8(Substring(digits), radix: 16)
      else {
        decoded.append(byte)
        lower.append(byte)
        upper.append(byte)
        continue
      }
      rest = rest.dropFirst(2)
      decoded.append(value)
      lower += Array("%\(Substring(digits).lowercased())".utf8)
      upper += Array("%\(Substring(digits).uppercased())".utf8)
    }
    return [secret] + [decoded, lower, upper].compactMap { String(validating: $0, as: UTF8.self) }
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
  public func leading(to text: String) -> FeedURL {
    FeedURL(text, secrets: Array(secrets))
  }

  func appending(_ text: String) -> FeedURL { leading(to: self.text + text) }

  /// A text with the secrets of the URL masked.
  func redact(_ message: String) -> String {
    let known = secrets.filter { $0.utf8.count >= 3 }
    return MaskedText.hide(known.union(URLSecrets(text).userInfo), in: message)
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

/// Reads the parts of a text that the user gives as a URL, even if libcurl would reject it. What decides where
/// requests may go reads libcurl's own URL with its parser, `CurlURL`.
enum URLText {
  /// The scheme in lower case (`https`), when the text has one followed by `://`.
  static func scheme(of text: String) -> String? {
    guard let separator = text.utf8.firstRange(of: "://".utf8)?.lowerBound else { return nil }
    let scheme = text[..<separator].lowercased()
    let isScheme = scheme.utf8.allSatisfy {
      ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2B || $0 == 0x2D
        || $0 == 0x2E
    }
    return isScheme && !scheme.isEmpty ? scheme : nil
  }

  /// The part between `://` and the path.
  private static func authority(of url: String) -> Substring? {
    guard let separator = url.utf8.firstRange(of: "://".utf8)?.lowerBound else { return nil }
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

/// Finds possible secrets in a URL, and masks them.
///
/// A token does not differ from other values by its form. So only the parts that are known to be harmless are
/// printed: scheme, host, path, and the query parameters that the FDSN event services define. A text that
/// only resembles a URL is treated like one.
struct URLSecrets {
  static let mask = MaskedText.mask

  /// The text with secrets masked.
  private(set) var shown = ""
  private(set) var pieces: [String] = []
  /// The secrets within the masked parts: the password without the user name, the value of a parameter.
  private(set) var values: [String] = []
  /// The user name with the password, and the password, if there are any.
  private(set) var userInfo: [String] = []

  /// Parameters of the FDSN event services, and of USGS's, whose values are no secrets.
  private static let harmless: Set<String> = [
    "starttime", "start", "endtime", "end", "updatedafter",
    "minlatitude", "minlat", "maxlatitude", "maxlat", "latitude", "lat",
    "minlongitude", "minlon", "maxlongitude", "maxlon", "longitude", "lon",
    "minradius", "maxradius", "minradiuskm", "maxradiuskm",
    "mindepth", "maxdepth", "minmagnitude", "minmag", "maxmagnitude", "maxmag",
    "magnitudetype", "magtype", "eventtype", "eventid", "catalog", "contributor", "alertlevel",
    "minmmi", "maxmmi", "mincdi", "maxcdi", "minfelt", "minsig", "maxsig", "mingap", "maxgap",
    "producttype", "productcode", "reviewstatus", "includeallorigins", "includeallmagnitudes",
    "includearrivals", "includedeleted", "includesuperseded", "limit", "offset", "orderby",
    "format", "nodata", "jsonerror",
  ]

  /// Parses a URL, or a text that may be one.
  init(_ text: String) {
    let head = Self.head(of: text)
    var rest = text[head.endIndex...]
    let dropped = Self.userInfoEnd(in: rest, after: head).map { rest[..<$0] }
    if let dropped {
      note(dropped.dropLast())
      rest = rest[dropped.endIndex...]
    }
    shown = String(head)
    // Without a scheme it is the name of a file, in which a question mark has no meaning.
    let isURL = !head.isEmpty || dropped != nil || Self.looksLikeQuery(rest)
    guard isURL else {
      shown += rest
      return
    }
    let path = rest.prefix { $0 != "?" && $0 != "#" }
    appendPath(path)
    rest = rest[path.endIndex...]
    if rest.first == "?" {
      let query = rest.dropFirst().prefix { $0 != "#" }
      shown += "?"
      appendQuery(query)
      rest = rest[query.endIndex...]
    }
    if rest.count > 1 {
      shown += "#" + Self.mask
      hide(rest.dropFirst())
    }
  }

  /// The user name and the password, each and both together.
  private mutating func note(_ userInfo: Substring) {
    pieces.append(String(userInfo))
    self.userInfo.append(String(userInfo))
    guard let colon = userInfo.firstIndex(of: ":") else { return values.append(String(userInfo)) }
    let password = userInfo[userInfo.index(after: colon)...]
    self.userInfo.append(String(password))
    hide(password)
  }

  private mutating func hide(_ value: Substring) {
    pieces.append(String(value))
    values.append(String(value))
  }

  // MARK: - Positions

  /// The scheme with its separator, which may have any number of slashes.
  private static func head(of text: String) -> Substring {
    guard let colon = text.firstIndex(of: ":") else { return text.prefix(0) }
    let scheme = text[..<colon].lowercased()
    guard let first = scheme.utf8.first, (0x61...0x7A).contains(first),
      scheme.utf8.allSatisfy({
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
      })
    else { return text.prefix(0) }
    let slashes = text[text.index(after: colon)...].prefix { $0 == "/" || $0 == "\\" }
    // `me:secret@host` has no scheme.
    guard !slashes.isEmpty || ["http", "https", "ftp", "file"].contains(scheme) else {
      return text.prefix(0)
    }
    return text[..<slashes.endIndex]
  }

  /// The position after the `@` that ends user name and password, even if these contain unescaped characters;
  /// nil if there are none.
  private static func userInfoEnd(
    in rest: Substring, after head: Substring
  ) -> Substring.Index? {
    var end: Substring.Index?
    // Without a scheme there must at least be a password.
    let authority = rest.prefix { !"/\\?#".contains($0) }
    if let at = authority.lastIndex(of: "@"), !head.isEmpty || authority[..<at].contains(":") {
      end = rest.index(after: at)
    }
    var left = rest[(end ?? rest.startIndex)...]
    // After an unescaped slash, the remainder of the password looks like a path.
    let path = left.prefix { $0 != "?" && $0 != "#" }
    if let at = path.lastIndex(of: "@"), path[..<at].contains(":") {
      end = rest.index(after: at)
      left = rest[(end ?? rest.startIndex)...]
    }
    // After a question mark or a number sign, it looks like a query.
    let host = left.prefix { !"/\\?#".contains($0) }
    let port = host.first == "[" ? "" : host.drop { $0 != ":" }.dropFirst()
    let isPort = port.allSatisfy { $0.isASCII && $0.isNumber }
    let endsEarly = host.endIndex < left.endIndex && "?#".contains(left[host.endIndex])
    if !isPort || (!port.isEmpty && endsEarly), let at = left.lastIndex(of: "@") {
      end = rest.index(after: at)
    }
    return end
  }

  private static func looksLikeQuery(_ rest: Substring) -> Bool {
    guard let mark = rest.firstIndex(of: "?") else { return false }
    return rest[mark...].contains("=")
  }

  // MARK: - Parts

  private mutating func appendPath(_ path: Substring) {
    let host = path.prefix { !"/\\".contains($0) }
    let port = host.first == "[" ? "" : host.drop { $0 != ":" }.dropFirst()
    if port.allSatisfy({ $0.isASCII && $0.isNumber }) {
      shown += host
    } else {
      // If it is not a port, it may be a password without a host.
      shown += path[..<port.startIndex] + Self.mask
      hide(port)
    }
    for segment in path[host.endIndex...].split(separator: "/", omittingEmptySubsequences: false)
      .enumerated()
    {
      if segment.offset > 0 { shown += "/" }
      let parts = segment.element.split(separator: ";", omittingEmptySubsequences: false)
      for part in parts.enumerated() {
        if part.offset > 0 { shown += ";" }
        guard part.offset > 0, let equals = part.element.firstIndex(of: "=") else {
          shown += part.element
          continue
        }
        shown += part.element[...equals] + Self.mask
        hide(part.element[part.element.index(after: equals)...])
      }
    }
  }

  private mutating func appendQuery(_ query: Substring) {
    var rest = query
    while true {
      let parameter = rest.prefix { $0 != "&" && $0 != ";" }
      append(parameter: parameter)
      rest = rest[parameter.endIndex...]
      guard let separator = rest.popFirst() else { return }
      shown.append(separator)
    }
  }

  private mutating func append(parameter: Substring) {
    guard !parameter.isEmpty else { return }
    let name = parameter.prefix { $0 != "=" }
    let value = parameter[name.endIndex...].dropFirst()
    // A value that ends with an equals sign may be a token in base 64.
    guard value.contains(where: { $0 != "=" }), name.utf8.count <= 64 else {
      shown += Self.mask
      hide(parameter)
      return
    }
    guard Self.harmless.contains(name.lowercased()), value.utf8.count <= 256,
      value.utf8.allSatisfy({ Self.isPlain($0) })
    else {
      shown += name + "=" + Self.mask
      hide(value)
      return
    }
    shown += parameter
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
      || "._:,+-*~ %".utf8.contains(byte)
  }
}
