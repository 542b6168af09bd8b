/// Another source's bytes, decompressed if they begin like gzip or Zstandard data. The name of a file and the headers of a
/// response do not matter.
public final class DecompressingSource: ByteSource {
  private let name: String
  private let original: any ByteSource
  /// The source to read from; nil until the first bytes have been examined.
  private var chosen: (any ByteSource)?

  /// Examines `source` at the first read. Errors call the data `name`.
  public init(_ source: any ByteSource, name: String) {
    original = source
    self.name = name
  }

  /// Reads decompressed bytes; 0 at the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    if let chosen { return try chosen.read(into: buffer) }
    var first: [UInt8] = []
    let forms = [GunzipSource.magic, ZstdSource.magic]
    // No more bytes than are needed: the rest of a slow source may come much later.
    while forms.contains(where: { $0.count > first.count && $0.starts(with: first) }) {
      guard let byte = try nextByte() else { break }
      first.append(byte)
    }
    let whole = PrefixedSource(prefix: first, source: original)
    let source: any ByteSource =
      switch first {
      case GunzipSource.magic: GunzipSource(whole, name: name)
      case ZstdSource.magic: ZstdSource(whole, name: name)
      default: whole
      }
    chosen = source
    return try source.read(into: buffer)
  }

  private func nextByte() throws(FeedError) -> UInt8? {
    var byte: UInt8 = 0
    var failure: FeedError?
    let count = withUnsafeMutableBytes(of: &byte) { buffer in
      do throws(FeedError) {
        return try original.read(into: buffer)
      } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return count == 0 ? nil : byte
  }
}
