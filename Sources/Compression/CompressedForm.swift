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
