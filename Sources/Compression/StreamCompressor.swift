/// Compresses a stream of bytes, in bounded memory.
public protocol StreamCompressor: AnyObject {
  /// Compresses `bytes`, and hands over the parts of the output that are complete.
  func compress(
    _ bytes: UnsafeRawBufferPointer, _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws

  /// Hands over the rest. Nothing can be compressed afterwards.
  func finish(_ part: (UnsafeRawBufferPointer) throws -> Void) throws
}
