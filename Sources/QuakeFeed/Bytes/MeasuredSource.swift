/// Another source's bytes, counted: how far its consumer has come in the whole.
public final class MeasuredSource: ByteSource {
  private let source: any ByteSource
  private let size: Int64?
  private var count: Int64 = 0

  /// - Parameter size: The number of bytes of the whole source; nil if unknown.
  init(_ source: any ByteSource, size: Int64?) {
    self.source = source
    self.size = size.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Reads the next bytes; 0 at the end.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let read = try source.read(into: buffer)
    count += Int64(read)
    return read
  }

  /// The part that has been read, 0 to 1; nil if the size is unknown.
  public var share: Double? { size.map { min(1, Double(count) / Double($0)) } }
}

extension FileDescriptorSource {
  /// The bytes that follow, counted.
  public var measured: MeasuredSource { MeasuredSource(self, size: remaining) }
}

extension FileSource {
  /// The file's bytes, counted.
  public var measured: MeasuredSource { MeasuredSource(self, size: size) }
}
