/// One of several transfers that run beside each other: its body is kept in a file until it is complete,
/// so that nobody who reads it waits for the network.
///
/// It belongs to the thread of its `FeedDownloads`.
public final class FeedDownload {
  let transfer: HTTPTransfer
  private let spool: DownloadSpool
  /// Whether only the headers are of interest.
  private let isHeadersOnly: Bool

  init(_ transfer: HTTPTransfer, spool: DownloadSpool, isHeadersOnly: Bool) {
    self.transfer = transfer
    self.spool = spool
    self.isHeadersOnly = isHeadersOnly
  }

  /// Whether nothing more has to come. An answer that is none has no body that anybody wants.
  public var isFinished: Bool {
    if transfer.isFinished { return true }
    return transfer.headers.isComplete && (isHeadersOnly || transfer.headers.status != 200)
  }

  /// The answer, with its body. To be asked for once, when the download has finished.
  ///
  /// - Throws: As `FeedClient.open`. What went wrong within the body is thrown by who reads that, where it
  ///   ends.
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
