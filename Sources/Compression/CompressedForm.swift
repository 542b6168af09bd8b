/// How a file is compressed, by the ending of its name.
public enum CompressedForm: String, Sendable, CaseIterable {
  /// gzip (RFC 1952).
  case gzip = ".gz"
  /// Zstandard (RFC 8878).
  case zstd = ".zst"

  /// The form of a file with this name; nil if the name has no such ending.
  public init?(fileName: String) {
    let name = fileName.lowercased()
    guard let form = Self.allCases.first(where: { name.hasSuffix($0.rawValue) }) else { return nil }
    self = form
  }

  /// A compressor of this form.
  public func makeCompressor() -> any StreamCompressor {
    switch self {
    case .gzip: GzipCompressor()
    case .zstd: ZstdCompressor()
    }
  }
}

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
