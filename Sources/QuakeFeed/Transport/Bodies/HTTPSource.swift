/// The body of an HTTP response as it is received.
///
/// It keeps its transfer and the client's connections alive; release it to cancel the transfer. Reads wait
/// for the network, within the limits of `FeedClient.Options`.
public final class HTTPSource: ByteSource {
  private let transfer: HTTPTransfer

  init(_ transfer: HTTPTransfer) {
    self.transfer = transfer
  }

  /// Reads the next bytes; 0 at the body's end. A body shorter than its `Content-Length` throws
  /// `.truncatedTransfer`.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    try transfer.read(into: buffer)
  }
}
