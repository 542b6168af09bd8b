import Glibc

/// Fetches feeds concurrently on the thread of its owner, which can wait for other descriptors at the same
/// time.
///
/// A slow server delays only its own feed. Connections are reused.
public final class FeedDownloads {
  private let options: FeedClient.Options
  private let folder: String
  private let multi = CurlMulti()
  private var running: [FeedDownload] = []

  /// Downloads with `options`. Their `interrupt` hook is not called, because only `wait` waits.
  ///
  /// - Parameter folder: The folder of the files in which bodies are stored.
  public init(options: FeedClient.Options, in folder: String) {
    self.options = options
    self.folder = folder
  }

  /// Whether no download is in progress.
  public var isEmpty: Bool { running.isEmpty }

  /// Begins a download, which `advance` and `wait` continue.
  ///
  /// - Parameters:
  ///   - validators: The validators of the stored version, so that the server can answer 304.
  ///   - reach: How near to this machine the server may be, if the URL is not from the user.
  ///   - headersOnly: Whether the body is not needed.
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

  /// Cancels a download.
  public func cancel(_ download: FeedDownload) {
    download.transfer.end()
    running.removeAll { $0 === download }
  }

  /// Continues the downloads without waiting.
  public func advance() {
    guard !running.isEmpty else { return }
    count(multi.perform())
  }

  /// Waits for the network, for one of `descriptors` or until the time is up, and continues the downloads.
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
