public import Basics

/// One of several concurrent transfers. Its body is stored in a file until it is complete, so that its reader
/// never waits for the network.
///
/// Use it only from the thread of its `FeedDownloads`.
public final class FeedDownload {
  let transfer: HTTPTransfer
  private let isHeadersOnly: Bool

  init(_ transfer: HTTPTransfer, isHeadersOnly: Bool) {
    self.transfer = transfer
    self.isHeadersOnly = isHeadersOnly
  }

  /// Whether the download is complete. The body of an error answer is not awaited.
  public var isFinished: Bool {
    if transfer.isFinished { return true }
    return transfer.headers.isComplete && (isHeadersOnly || transfer.headers.status != 200)
  }

  /// Where the server redirects for good, without secrets, also if the request there has failed; nil: nowhere.
  public var movedTo: String? { transfer.movedTo }

  /// The answer with its body. Call it once, when the download has finished.
  ///
  /// - Throws: Like `FeedClient.open`. An error within the body is thrown where the body ends, when it is
  ///   read.
  public func response() throws(FeedError) -> FeedResponse {
    transfer.end()
    if !transfer.headers.isComplete { try transfer.checkResult() }
    guard transfer.headers.status == 200, !isHeadersOnly, let file = transfer.file else {
      return try FeedClient.response(transfer)
    }
    if let failure = file.failure { throw failure }
    var failure: FeedError?
    do throws(FeedError) { try transfer.checkResult() } catch { failure = error }
    return try FeedClient.response(transfer, spool: BodySpool(file, end: failure))
  }
}

/// Fetches feeds concurrently on the thread of its owner, which can wait for other descriptors at the same
/// time.
///
/// A slow server delays only its own feed. Connections are reused.
public final class FeedDownloads {
  private let options: FeedClient.Options
  private let folder: String
  private let loop = CurlLoop()
  private var running: [FeedDownload] = []
  /// Until when the time of the downloads is counted, on the monotonic clock.
  private var counted = Duration.zero

  /// The most time between two calls that counts. A thread that does nothing else for long does not receive what the
  /// servers send meanwhile; but one that is busy all the time and calls often must end slow downloads.
  private static let mostBetweenCalls = Duration.milliseconds(250)

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
  ///   - own: The options of this download; nil: those of the others.
  public func start(
    _ url: FeedURL, validators: FeedValidators? = nil, reach: AddressKind? = nil,
    headersOnly: Bool = false, options own: FeedClient.Options? = nil
  ) throws(FeedError) -> FeedDownload {
    let options = own ?? options
    let transfer = try HTTPTransfer(
      url: url, validators: validators, options: options, loop: loop, reach: reach,
      storesIn: folder)
    let download = FeedDownload(transfer, isHeadersOnly: headersOnly)
    count(atMost: Self.mostBetweenCalls)
    running.append(download)
    return download
  }

  /// Cancels a download.
  public func cancel(_ download: FeedDownload) {
    download.transfer.end()
    running.removeAll { $0 === download }
  }

  /// Continues the downloads without waiting.
  public func advance() { advance(atMost: Self.mostBetweenCalls) }

  /// - Parameter limit: The most time that counts since the call before; nil: all of it.
  private func advance(atMost limit: Duration?) {
    guard !running.isEmpty else { return }
    loop.run()
    count(atMost: limit)
    for download in running where download.isFinished { download.transfer.end() }
    running.removeAll { $0.isFinished }
  }

  /// Waits for the network, for one of `descriptors` or until the time is up, and continues the downloads.
  /// Returns early when a download has finished.
  public func wait(milliseconds: Int, beside descriptors: [Int32] = []) {
    let before = running.count
    advance()
    guard running.count == before else { return }
    let patience = running.map(\.transfer.patience).min() ?? milliseconds
    loop.wait(milliseconds: Int32(clamping: min(milliseconds, patience)), beside: descriptors)
    advance(atMost: nil)
  }

  private func count(atMost limit: Duration?) {
    let now = MonotonicClock.now()
    let passed = limit.map { min(now - counted, $0) } ?? now - counted
    for download in running { download.transfer.count(Int(passed / .nanoseconds(1))) }
    counted = now
  }
}
