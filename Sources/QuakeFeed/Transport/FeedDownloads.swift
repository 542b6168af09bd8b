import Glibc

/// Fetches feeds beside each other, on the thread of its owner, who is free to wait for other things, too.
///
/// A slow server keeps nobody waiting but its own feed. Connections are kept for the next time.
public final class FeedDownloads {
  private let options: FeedClient.Options
  private let folder: String
  private let multi = CurlMulti()
  private var running: [FeedDownload] = []

  /// Downloads that keep to `options`; its `interrupt` is not asked, as nothing here waits unasked.
  ///
  /// - Parameter folder: Where bodies are kept while they come in.
  public init(options: FeedClient.Options, in folder: String) {
    self.options = options
    self.folder = folder
  }

  /// Whether nothing is under way.
  public var isEmpty: Bool { running.isEmpty }

  /// Begins a download. It goes on in `advance` and `wait`.
  ///
  /// - Parameters:
  ///   - validators: of the version one has, to be spared the same again (304).
  ///   - reach: how near to this machine the server may be, where the URL is not the user's own.
  ///   - headersOnly: whether the body is not wanted.
  public func start(
    _ url: FeedURL, validators: FeedValidators? = nil, reach: AddressKind? = nil,
    headersOnly: Bool = false
  ) throws(FeedError) -> FeedDownload {
    let spool = DownloadSpool(in: folder, limit: options.maximumBodyBytes)
    let transfer = try HTTPTransfer(
      url: url, validators: validators, options: options, multi: multi, reach: reach, spool: spool)
    let download = FeedDownload(transfer, spool: spool, isHeadersOnly: headersOnly)
    running.append(download)
    return download
  }

  /// Ends a download that nobody wants any more.
  public func cancel(_ download: FeedDownload) {
    download.transfer.end()
    running.removeAll { $0 === download }
  }

  /// Does what can be done without waiting.
  public func advance() {
    guard !running.isEmpty else { return }
    count(multi.perform())
  }

  /// Waits for the network or for one of `descriptors`, at most so long, and does what can be done then.
  /// Returns early when a download has finished.
  public func wait(milliseconds: Int, beside descriptors: [Int32] = []) {
    let patience = running.map(\.transfer.patience).min() ?? milliseconds
    count(multi.wait(milliseconds: min(milliseconds, patience), beside: descriptors))
    advance()
  }

  private func count(_ nanoseconds: Int) {
    for download in running { download.transfer.count(nanoseconds) }
    for download in running where download.isFinished { download.transfer.end() }
    running.removeAll { $0.isFinished }
  }
}
