/// One of several concurrent transfers. Its body is stored in a file until it is complete, so that its reader
/// never waits for the network.
///
/// Use it only from the thread of its `FeedDownloads`.
public final class FeedDownload {
  let transfer: HTTPTransfer
  private let spool: DownloadSpool
  /// Whether only the headers are needed.
  private let isHeadersOnly: Bool

  init(_ transfer: HTTPTransfer, spool: DownloadSpool, isHeadersOnly: Bool) {
    self.transfer = transfer
    self.spool = spool
    self.isHeadersOnly = isHeadersOnly
  }

  /// Whether the download is complete. The body of an error answer is not awaited.
  public var isFinished: Bool {
    if transfer.isFinished { return true }
    return transfer.headers.isComplete && (isHeadersOnly || transfer.headers.status != 200)
  }

  /// The answer with its body. Call it once, when the download has finished.
  ///
  /// - Throws: Like `FeedClient.open`. An error within the body is thrown where the body ends, when it is
  ///   read.
  public func response() throws(FeedError) -> FeedResponse {
    transfer.end()
    if !transfer.headers.isComplete { try transfer.checkResult() }
    guard transfer.headers.status == 200, !isHeadersOnly else {
      return try FeedClient.response(transfer)
    }
    if let failure = spool.failure { throw failure }
    var failure: FeedError?
    do throws(FeedError) { try transfer.checkResult() } catch { failure = error }
    let body = BodySpool(keeping: try spool.release(), end: failure)
    return try FeedClient.response(transfer, spool: body)
  }
}
