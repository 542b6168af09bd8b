import Basics
import Glibc
import QuakeModel

/// One HTTP request and its response. Its reader drives it, or `FeedDownloads`, together with others.
///
/// For a reader, libcurl runs only within `waitForHeaders` and `read`. Its callbacks fill a buffer of fixed size and
/// pause the transfer when it is full, so that a slow reader slows down only the server. For a download, they
/// write to a file.
///
/// It ends, and with it its connection if no other transfer needs that, when it is released.
final class HTTPTransfer {
  private static let bufferCapacity = 64 * 1024
  private static let waitMilliseconds = 250

  /// The URL without secrets.
  var name: String { url.shown }
  private(set) var headers = HTTPHeaders()
  private let url: FeedURL
  private let options: FeedClient.Options
  private let loop: CurlLoop
  private let curl: CurlTransfer
  /// Whether the request has a condition, so that the server may answer that nothing has changed.
  let isConditional: Bool
  /// The file for the body; nil to use the buffer.
  let file: BodyFile?
  private let buffer: UnsafeMutableRawBufferPointer
  private var bufferStart = 0
  private var bufferEnd = 0
  private var isPaused = false
  private var hasEnded = false
  /// Counts the received bytes of headers and body.
  private var bytes = 0
  private var pace: TransferPace
  /// When the request began, on the monotonic clock.
  private let begun = MonotonicClock.now()
  private var slowness: TransferPace.Failure?
  private var redirects: RedirectGuard
  /// Where redirects for good have led to a server that could be asked; nil: nowhere.
  private var askedForGood: String?
  /// Whether all redirects so far were for good.
  private var isForGood = true

  /// - Parameters:
  ///   - reach: How near to this machine the server may be; nil for no limit, because the URL is from the
  ///     user.
  ///   - folder: The folder of the file for the body; nil to pass the body to a reader.
  init(
    url: FeedURL, validators: FeedValidators?, options: FeedClient.Options, loop: CurlLoop,
    reach: AddressKind? = nil, storesIn folder: String? = nil
  ) throws(FeedError) {
    self.url = url
    let most = options.maximumBodyBytes
    file = folder.map {
      BodyFile(in: $0, limit: (most, .bodyTooLarge("\"\(url.shown)\"", limit: most)))
    }
    pace = TransferPace(
      TransferPace.Limits(
        stall: options.stallTimeoutMilliseconds, window: options.rateWindowMilliseconds,
        minimumRate: options.minimumRate, total: options.downloadTimeoutMilliseconds))
    redirects = RedirectGuard(
      trusts: options.trustsRedirects, usesProxy: options.mayUseProxy, reach: reach,
      kind: options.addressKind, shown: { FeedURL($0).shown })
    self.options = options
    self.loop = loop
    let conditions = [
      ("If-None-Match", validators?.etag), ("If-Modified-Since", validators?.lastModified),
    ].compactMap { name, value -> String? in
      // A line break in a validator would begin another header.
      guard let value, !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 }) else { return nil }
      return "\(name): \(value)"
    }
    isConditional = !conditions.isEmpty
    var request = CurlTransfer.Options(
      userAgent: options.userAgent,
      connectTimeoutMilliseconds: options.connectTimeoutMilliseconds)
    request.headers =
      [
        "Accept: application/geo+json, application/json, text/csv, */*;q=0.5",
        "Accept-Encoding: gzip",
      ] + conditions
    request.maximumRedirects = options.maximumRedirects
    request.certificateAuthorityFile = options.certificateAuthorityFile
    do throws(LibraryProblem) {
      curl = try CurlTransfer(url.text, options: request, loop: loop)
      buffer = .allocate(byteCount: file == nil ? Self.bufferCapacity : 0, alignment: 16)
      try curl.begin(for: self)
    } catch {
      throw FeedError(
        .network, "could not fetch \"\(url.shown)\"", detail: error.detail, hint: error.hint)
    }
  }

  deinit { buffer.deallocate() }
}

// MARK: - What libcurl calls

extension HTTPTransfer: CurlReceiver {
  func receive(header line: UnsafeRawBufferPointer) {
    bytes += line.count
    headers.add(line: line)
  }

  func receive(body bytes: UnsafeRawBufferPointer) -> CurlTransfer.Receipt {
    if let file {
      self.bytes += bytes.count
      // The body of an error answer is discarded.
      return headers.status != 200 || file.append(bytes) ? .taken : .refused
    }
    if buffer.count - bufferEnd < bytes.count, bufferStart > 0 {
      let rest = UnsafeRawBufferPointer(rebasing: buffer[bufferStart..<bufferEnd])
      buffer.copyMemory(from: rest)
      bufferEnd -= bufferStart
      bufferStart = 0
    }
    // An empty buffer always has room.
    guard buffer.count - bufferEnd >= bytes.count else {
      isPaused = true
      return .paused
    }
    UnsafeMutableRawBufferPointer(rebasing: buffer[bufferEnd...]).copyMemory(from: bytes)
    bufferEnd += bytes.count
    self.bytes += bytes.count
    return .taken
  }

  func mayConnect(to address: String) -> Bool { redirects.admits(address: address) }

  func mayAsk(at address: String) -> Bool {
    switch headers.status {
    case 301, 308: if isForGood { askedForGood = curl.url }
    case 302, 303, 307: isForGood = false
    default: break
    }
    return redirects.admits(url: curl.url, address: address)
  }
}

// MARK: - What downloads call

extension HTTPTransfer {
  var isFinished: Bool { curl.isFinished || slowness != nil || hasEnded }

  /// The milliseconds until its limits must be checked again.
  var patience: Int { pace.patience }

  /// Counts the time that driving it takes.
  private func count(_ drive: () -> Void) { count(TransferPace.nanoseconds(drive)) }

  /// Counts a time during which it was driven, and ends it if it is too slow.
  func count(_ nanoseconds: Int) {
    guard !curl.isFinished, slowness == nil else { return }
    slowness = pace.advance(by: nanoseconds, bytes: bytes, isConnecting: !curl.isSent)
  }

  /// Removes it from the loop, which ends it.
  func end() {
    hasEnded = true
    curl.end()
  }

  /// How near to this machine a URL in this answer may be.
  var reach: AddressKind { redirects.reach ?? .everywhere }
}

// MARK: - What the reader calls

extension HTTPTransfer: ByteSource {
  func waitForHeaders() throws(FeedError) {
    try drive { $0.headers.isComplete || $0.bufferEnd > $0.bufferStart }
    if !headers.isComplete { try checkResult() }
  }

  var maximumBodyBytes: Int { options.maximumBodyBytes }

  /// Reads the next bytes of the body as it is received; 0 at its end. A body that is shorter than its
  /// `Content-Length` throws `.truncatedTransfer`.
  func read(into target: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    // The pace counts only time spent here, so that a slow reader is not blamed on the server. But a body that gives its
    // reader endless work must end, too.
    if let limit = options.totalTimeoutMilliseconds,
      MonotonicClock.now() - begun > .milliseconds(limit)
    {
      throw FeedError(
        .timeout, "could not import \"\(name)\" in time",
        detail: """
          Reading and storing its body has taken \(Self.seconds(limit)), which is the most it may take.
          """,
        hint: "Check the URL; if the body is that long, raise --total-timeout.")
    }
    if bufferEnd == bufferStart {
      bufferStart = 0
      bufferEnd = 0
      if isPaused {
        isPaused = false
        curl.resume()
      }
      try drive { $0.bufferEnd > $0.bufferStart }
    }
    let count = min(target.count, bufferEnd - bufferStart)
    guard count > 0 else {
      try checkResult()
      return 0
    }
    target.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: buffer[bufferStart..<(bufferStart + count)]))
    bufferStart += count
    return count
  }

  /// Reads the beginning of the body of an error answer as text; nil if there is none. A failure does not
  /// matter, because the answer is an error anyhow.
  func readErrorText() -> String? {
    let bytes = readBytes(atMost: FeedError.longestAnswer).bytes
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// Runs the transfer until it has ended or `isEnough` returns true.
  private func drive(until isEnough: (HTTPTransfer) -> Bool) throws(FeedError) {
    pace.resume()
    while !curl.isFinished, !isEnough(self) {
      if options.interrupt?() == true {
        throw FeedError(.interrupted, "interrupted while fetching \"\(name)\"")
      }
      count(loop.run)
      if curl.isFinished || isEnough(self) { return }
      if let slowness { throw tooSlow(slowness) }
      count { loop.wait(milliseconds: Int32(min(pace.patience, Self.waitMilliseconds))) }
    }
  }

  private func tooSlow(_ failure: TransferPace.Failure) -> FeedError {
    let detail =
      switch failure {
      case .stalled:
        "The server sent nothing for \(Self.seconds(options.stallTimeoutMilliseconds))."
      case .slow(let bytes, let time):
        """
        The server sent \(bytes) bytes in \(Self.seconds(time / 1000 * 1000)): at least \
        \(options.minimumRate) a second have to come.
        """
      case .late:
        """
        The download was not done in \
        \(Self.seconds(options.downloadTimeoutMilliseconds ?? 0)), which is the most it may take.
        """
      }
    return FeedError(
      .timeout, "could not fetch \"\(name)\"", detail: detail, hint: "Try again later.")
  }

  private static func seconds(_ milliseconds: Int) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }

  /// The new address of the feed, without secrets: where redirects for good lead (301, 308), or where one of another kind
  /// leads to another host. Nil if the server answers at the address itself, or redirects elsewhere on its host.
  var newAddress: String? {
    let isElsewhere =
      URLText.host(of: curl.url)?.lowercased() != URLText.host(of: url.text)?.lowercased()
    return movedTo ?? (isElsewhere ? shown(curl.url) : nil)
  }

  /// Where redirects for good lead, without secrets, also if the request there has failed; nil: nowhere.
  var movedTo: String? {
    switch curl.failure?.kind {
    case .redirects, .url: return nil
    default: break
    }
    // If no server could be asked there, the last status is that of the redirect.
    let isOnTheWay = isForGood && !headers.isComplete && [301, 308].contains(headers.status)
    return (isOnTheWay ? curl.url : askedForGood).flatMap(shown)
  }

  private func shown(_ address: String) -> String? {
    address.utf8.count <= FeedReference.maximumBytes ? url.leading(to: address).shown : nil
  }

  func checkResult() throws(FeedError) {
    if let slowness, !curl.isFinished { throw tooSlow(slowness) }
    guard let failure = curl.failure else { return }
    if let failure = file?.failure { throw failure }
    if let refusal = redirects.refusal {
      throw FeedError(
        .refusedRedirect, "could not fetch \"\(name)\"", detail: url.redact(refusal) + ".",
        hint: "If this is intended, use the address itself, or --allow-any-redirect.")
    }
    let detail = url.redact(failure.detail)
    let message = "could not fetch \"\(name)\""
    switch failure.kind {
    // After the first redirect, the cause is not the user's URL but the server's redirect or answer.
    case .url where !curl.isSent:
      throw FeedError(.invalidReference, "cannot fetch \"\(name)\"", detail: detail)
    case .truncated:
      throw FeedError(
        .truncatedTransfer, "the body of \"\(name)\" is truncated", detail: detail,
        hint: "Fetch it again.")
    case .timeout:
      throw FeedError(.timeout, message, detail: detail, hint: "Try again later.")
    case .redirects:
      throw FeedError(.tooManyRedirects, message, detail: detail, hint: "Check the URL.")
    case .certificate:
      throw FeedError(
        .tls, message, detail: detail,
        hint: "Check the URL's host, this machine's clock and its certificates (ca-certificates).")
    case .name:
      throw FeedError(
        .network, message, detail: detail, hint: "Check the URL's host and the network.")
    case .head:
      throw FeedError(
        .network, message, detail: detail,
        hint: "Check the URL: the server does not answer as servers of HTTP do.")
    case .url, .other:
      throw FeedError(
        .network, message, detail: detail, hint: "Check the network; try again later.")
    }
  }
}
