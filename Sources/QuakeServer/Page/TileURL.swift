/// The address of map tiles that the operator has: `https://tiles.example.org/{z}/{x}/{y}.png`.
package struct TileURL: Sendable {
  /// The address with its placeholders.
  package let template: String
  /// The origin that a content security policy must allow, such as `https://tiles.example.org`; nil: the
  /// server itself has the tiles.
  let origin: String?

  /// Reads a template; nil if it is not one. It is an address of http or https, or a path of this server, and
  /// has the placeholders `{z}`, `{x}` and `{y}` in its path or its query.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    // These would end the value in a policy, in a header or in JSON.
    let isPlain = bytes.allSatisfy {
      (0x21...0x7E).contains($0) && !#""',;<>\^`|"#.utf8.contains($0)
    }
    guard isPlain, bytes.count <= 2000 else { return nil }
    var path = text[...]
    var origin: String?
    if !text.hasPrefix("/") {
      guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else {
        return nil
      }
      let rest = text.dropFirst(scheme.count)
      let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      let isHost = host.utf8.allSatisfy {
        ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A)
          || "-.:[]".utf8.contains($0)
      }
      guard isHost, !host.isEmpty, !host.hasPrefix(":") else { return nil }
      origin = scheme + host
      path = rest.dropFirst(host.count)
    } else if text.hasPrefix("//") {
      return nil
    }
    // Of each exactly one, and no others, which the page would not fill.
    let places = ["{z}", "{x}", "{y}"]
    let braces = path.utf8.count { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }
    guard path.hasPrefix("/"), !path.contains("#"), braces == 2 * places.count,
      places.allSatisfy({ path.contains($0) })
    else { return nil }
    template = text
    self.origin = origin
  }
}
