/// A client's list of codings, the field `Accept-Encoding`.
public enum AcceptEncoding {
  /// Whether a list such as `br, gzip;q=0.5` accepts gzip.
  public static func acceptsGzip(_ list: String?) -> Bool {
    guard let list else { return false }
    var wildcard = false
    for coding in list.split(separator: ",") {
      let parts = coding.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
      guard let name = parts.first, name == "gzip" || name == "x-gzip" || name == "*" else {
        continue
      }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      let accepts = (quality ?? 1) > 0
      if name != "*" { return accepts }
      wildcard = accepts
    }
    return wildcard
  }
}
