import Compression

/// Compresses bodies.
enum Gzip {
  /// The bytes as a gzip file; nil if they cannot be compressed.
  static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    // Level 1: a busy loopback, not a slow line.
    let compressor = GzipCompressor(level: 1)
    var output: [UInt8] = []
    do {
      try bytes.withUnsafeBytes { try compressor.compress($0) { output.append(contentsOf: $0) } }
      try compressor.finish { output.append(contentsOf: $0) }
    } catch {
      return nil
    }
    return output
  }
}
