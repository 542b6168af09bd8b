/// A source of some bytes followed by another source: it returns the bytes that were read to recognise the
/// format.
final class PrefixedSource: ByteSource {
  private var prefix: [UInt8]
  private let source: any ByteSource

  init(prefix: [UInt8], source: any ByteSource) {
    self.prefix = prefix
    self.source = source
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    guard !prefix.isEmpty else { return try source.read(into: buffer) }
    let count = min(prefix.count, buffer.count)
    buffer.copyBytes(from: prefix.prefix(count))
    prefix.removeFirst(count)
    return count
  }
}
