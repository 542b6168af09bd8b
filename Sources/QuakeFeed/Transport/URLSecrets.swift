/// What may be secret in a URL, and the URL without it.
///
/// Nobody can tell a token from any other value by its looks. So what is shown of a URL is what is known to
/// be harmless: scheme, host, path, and those parameters of a query that the FDSN event services define.
/// A text that only resembles a URL is treated like one.
struct URLSecrets {
  /// What stands for a value that is not shown.
  static let mask = "***"

  /// The text as it may be shown.
  private(set) var shown = ""
  /// The pieces that are not shown.
  private(set) var pieces: [String] = []
  /// Of these, what may be secret in itself: a password without the user's name, a parameter's value.
  private(set) var values: [String] = []

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

  /// Takes a URL, or a text that may be meant as one, apart.
  init(_ text: String) {
    let head = Self.head(of: text)
    var rest = text[head.endIndex...]
    let dropped = Self.userInfoEnd(in: rest, after: head).map { rest[..<$0] }
    if let dropped {
      note(dropped.dropLast())
      rest = rest[dropped.endIndex...]
    }
    shown = String(head)
    // Without a scheme it is a file's name, where a question mark has no meaning.
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

  /// The user name and password: each of them, and both together.
  private mutating func note(_ userInfo: Substring) {
    pieces.append(String(userInfo))
    guard let colon = userInfo.firstIndex(of: ":") else { return values.append(String(userInfo)) }
    hide(userInfo[userInfo.index(after: colon)...])
  }

  private mutating func hide(_ value: Substring) {
    pieces.append(String(value))
    values.append(String(value))
  }

  // MARK: - Places

  /// The scheme with what separates it from the rest, however many slashes that are.
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

  /// The place after the `@` that ends user name and password, wherever somebody may have put a character
  /// that does not belong there; nil if there are none.
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
    // A slash in the password makes the rest of it look like a path.
    let path = left.prefix { $0 != "?" && $0 != "#" }
    if let at = path.lastIndex(of: "@"), path[..<at].contains(":") {
      end = rest.index(after: at)
      left = rest[(end ?? rest.startIndex)...]
    }
    // A question mark or a number sign does so with a query.
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
      // No port: a password whose host is missing.
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
    // What ends in an equals sign may be a token in base 64.
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
