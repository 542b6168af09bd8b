import CLibcurl
import Glibc
import QuakeModel

/// One HTTP request and its response. Its reader drives it, or `FeedDownloads`, together with others.
///
/// For a reader, libcurl runs only within `open` and `read`. Its callbacks fill a buffer of fixed size and
/// pause the transfer when it is full, so that a slow reader slows down only the server. For a download, they
/// write to a file.
final class HTTPTransfer {
  private static let bufferCapacity = 64 * 1024
  private static let waitMilliseconds = 250
  /// CURL_SOCKET_BAD, a macro that Swift does not import.
  fileprivate static let noSocket: curl_socket_t = -1

  /// The URL without secrets.
  var name: String { url.shown }
  private(set) var headers = HTTPHeaders()
  private let url: FeedURL
  private let options: FeedClient.Options
  private let multi: CurlMulti
  private let easy: UnsafeMutableRawPointer
  private var requestHeaders: UnsafeMutablePointer<curl_slist>?
  /// Whether the request has a condition, so that the server may answer that nothing has changed.
  private(set) var isConditional = false
  private let errorText: UnsafeMutablePointer<CChar>
  /// The spool for the body; nil to use the buffer.
  private let spool: DownloadSpool?
  private let buffer: UnsafeMutableRawBufferPointer
  private var bufferStart = 0
  private var bufferEnd = 0
  private var isPaused = false
  private var result: CURLcode?
  /// Whether it has been removed from the loop.
  private var hasEnded = false
  /// Counts the received bytes of headers and body.
  private var bytes = 0
  private var pace: TransferPace
  private var slowness: TransferPace.Failure?
  private var redirects: RedirectGuard

  /// - Parameters:
  ///   - reach: How near to this machine the server may be; nil for no limit, because the URL is from the
  ///     user.
  ///   - spool: The spool for the body; nil to pass it to a reader.
  init(
    url: FeedURL, validators: FeedValidators?, options: FeedClient.Options, multi: CurlMulti,
    reach: AddressKind? = nil, spool: DownloadSpool? = nil
  ) throws(FeedError) {
    self.url = url
    self.spool = spool
    pace = TransferPace(
      TransferPace.Limits(
        stall: options.stallTimeoutMilliseconds, window: options.rateWindowMilliseconds,
        minimumRate: options.minimumRate, total: options.downloadTimeoutMilliseconds))
    redirects = RedirectGuard(
      trusts: options.trustsRedirects, usesProxy: options.mayUseProxy, reach: reach,
      kind: options.addressKind)
    self.options = options
    self.multi = multi
    guard let easy = curl_easy_init() else {
      preconditionFailure("libcurl has no memory for a transfer")
    }
    self.easy = easy
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    buffer = .allocate(byteCount: spool == nil ? Self.bufferCapacity : 0, alignment: 16)
    setOptions()
    setRequestHeaders(validators)
    guard quake_curl_set_string(easy, CURLOPT_URL, url.text) == CURLE_OK,
      curl_multi_add_handle(multi.handle, easy) == CURLM_OK
    else {
      throw FeedError(.network, "could not fetch \"\(name)\"", detail: "libcurl has no memory.")
    }
  }

  deinit {
    end()
    curl_easy_cleanup(easy)
    curl_slist_free_all(requestHeaders)
    errorText.deallocate()
    buffer.deallocate()
  }

  private func setOptions() {
    // libcurl does not own the object: `deinit` ends the transfer first.
    let owner = Unmanaged.passUnretained(self).toOpaque()
    quake_curl_set_pointer(easy, CURLOPT_PRIVATE, owner)
    quake_curl_set_pointer(easy, CURLOPT_WRITEDATA, owner)
    quake_curl_set_pointer(easy, CURLOPT_HEADERDATA, owner)
    quake_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    quake_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
      guard let bytes, let owner else { return 0 }
      let transfer = Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue()
      return transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    quake_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
      guard let bytes, let owner else { return 0 }
      let transfer = Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue()
      transfer.receive(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
      return size * count
    }
    quake_curl_set_pointer(easy, CURLOPT_PREREQDATA, owner)
    quake_curl_set_prerequest(easy) { owner, address, _, _, _ in
      guard let owner, let address else { return CURL_PREREQFUNC_ABORT }
      let transfer = Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue()
      return transfer.mayAsk(at: String(cString: address))
        ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
    quake_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, owner)
    quake_curl_set_opensocket(easy) { owner, _, address in
      guard let owner, let address else { return HTTPTransfer.noSocket }
      let transfer = Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue()
      guard transfer.mayConnect(to: address) else { return HTTPTransfer.noSocket }
      let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
      return socket(address.pointee.family, type, address.pointee.protocol)
    }
    quake_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    quake_curl_set_string(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    // Otherwise a cancelled transfer would wait for a slow name resolution.
    quake_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    quake_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 1)
    quake_curl_set_long(easy, CURLOPT_MAXREDIRS, Int(options.maximumRedirects))
    quake_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    quake_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    quake_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeoutMilliseconds)
    // The tool handles signals; libcurl would otherwise use SIGALRM and SIGPIPE.
    quake_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // With HTTP/2, libcurl keeps megabytes of a paused transfer in memory, and a single transfer gains
    // nothing from it.
    quake_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    // This module decompresses gzip itself, so that it can report a truncated stream.
    quake_curl_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
    // The headers of a proxy's own answer are not those of the feed.
    quake_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    quake_curl_set_string(easy, CURLOPT_USERAGENT, options.userAgent)
    if let path = options.certificateAuthorityFile {
      quake_curl_set_string(easy, CURLOPT_CAINFO, path)
    }
  }

  private func setRequestHeaders(_ validators: FeedValidators?) {
    @discardableResult
    func add(_ name: String, _ value: String?) -> Bool {
      // A line break in a validator would begin another header.
      guard let value, !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 }) else { return false }
      requestHeaders = curl_slist_append(requestHeaders, "\(name): \(value)")
      return true
    }
    add("Accept", "application/geo+json, application/json, text/csv, */*;q=0.5")
    add("Accept-Encoding", "gzip")
    let hasTag = add("If-None-Match", validators?.etag)
    let hasDate = add("If-Modified-Since", validators?.lastModified)
    isConditional = hasTag || hasDate
    quake_curl_set_list(easy, CURLOPT_HTTPHEADER, requestHeaders)
  }
}

// MARK: - What libcurl calls

extension HTTPTransfer {
  fileprivate func receive(header line: UnsafeRawBufferPointer) {
    bytes += line.count
    headers.add(line: line)
  }

  fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Int {
    if let spool {
      self.bytes += bytes.count
      // The body of an error answer is discarded.
      return headers.status != 200 || spool.append(bytes, of: name) ? bytes.count : 0
    }
    if buffer.count - bufferEnd < bytes.count, bufferStart > 0 {
      let rest = UnsafeRawBufferPointer(rebasing: buffer[bufferStart..<bufferEnd])
      buffer.copyMemory(from: rest)
      bufferEnd -= bufferStart
      bufferStart = 0
    }
    // libcurl passes at most CURL_MAX_WRITE_SIZE (16 KiB), which always fits into an empty buffer.
    guard buffer.count - bufferEnd >= bytes.count else {
      isPaused = true
      return quake_curl_pause
    }
    UnsafeMutableRawBufferPointer(rebasing: buffer[bufferEnd...]).copyMemory(from: bytes)
    bufferEnd += bytes.count
    self.bytes += bytes.count
    return bytes.count
  }

  fileprivate func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    // The address is longer than its type, which declares only the beginning.
    guard let place = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return false }
    let isText = (UnsafeRawPointer(address) + place).withMemoryRebound(
      to: sockaddr.self, capacity: 1
    ) {
      getnameinfo(
        $0, socklen_t(address.pointee.addrlen), &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST) == 0
    }
    let name = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return redirects.admits(address: isText ? String(decoding: name, as: UTF8.self) : "")
  }

  fileprivate func mayAsk(at address: String) -> Bool {
    redirects.admits(url: currentURL, address: address)
  }

  /// Notes that the transfer has ended, with or without an error.
  func didFinish(_ code: CURLcode) {
    result = code
  }
}

// MARK: - What downloads call

extension HTTPTransfer {
  /// Whether the transfer has ended.
  var isFinished: Bool { result != nil || slowness != nil || hasEnded }

  /// The milliseconds until its limits must be checked again.
  var patience: Int { pace.patience }

  /// Counts a time during which it was driven, and ends it if it is too slow.
  func count(_ nanoseconds: Int) {
    guard result == nil, slowness == nil else { return }
    slowness = pace.advance(by: nanoseconds, bytes: bytes, isConnecting: isConnecting)
  }

  /// Removes it from the loop, which ends it.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    curl_multi_remove_handle(multi.handle, easy)
  }

  /// How near to this machine a URL in this answer may be.
  var reach: AddressKind { redirects.reach ?? .everywhere }
}

// MARK: - What the reader calls

extension HTTPTransfer {
  /// Waits for the headers of the final response.
  func waitForHeaders() throws(FeedError) {
    try drive { $0.headers.isComplete || $0.bufferEnd > $0.bufferStart }
    if !headers.isComplete { try checkResult() }
  }

  /// Reads the next bytes of the body; 0 at its end.
  func read(into target: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    if bufferEnd == bufferStart {
      bufferStart = 0
      bufferEnd = 0
      if isPaused {
        isPaused = false
        // libcurl may deliver the data that it held back at once.
        curl_easy_pause(easy, CURLPAUSE_CONT)
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
    var bytes = [UInt8](repeating: 0, count: FeedError.longestAnswer)
    var end = 0
    while end < bytes.count {
      var count = 0
      bytes.withUnsafeMutableBytes { buffer in
        count =
          (try? read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))) ?? 0
      }
      guard count > 0 else { break }
      end += count
    }
    return end == 0 ? nil : String(decoding: bytes[..<end], as: UTF8.self)
  }

  /// Runs the transfer until it has ended or `isEnough` returns true.
  private func drive(until isEnough: (HTTPTransfer) -> Bool) throws(FeedError) {
    pace.resume()
    while result == nil, !isEnough(self) {
      if options.interrupt?() == true {
        throw FeedError(.interrupted, "interrupted while fetching \"\(name)\"")
      }
      count(multi.perform())
      if result != nil || isEnough(self) { return }
      if let slowness { throw tooSlow(slowness) }
      count(multi.wait(milliseconds: min(pace.patience, Self.waitMilliseconds)))
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

  /// Whether the request has not been sent yet, so that the connect timeout applies.
  private var isConnecting: Bool { offset(CURLINFO_PRETRANSFER_TIME_T) == 0 }

  private static func seconds(_ milliseconds: Int) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }

  private func offset(_ info: CURLINFO) -> Int {
    var value: curl_off_t = 0
    quake_curl_get_offset(easy, info, &value)
    return Int(value)
  }

  /// The number of bytes of the body received.
  var bytesReceived: Int { offset(CURLINFO_SIZE_DOWNLOAD_T) }

  /// The URL of the present request, after redirects.
  private var currentURL: String {
    var text: UnsafePointer<CChar>?
    quake_curl_get_string(easy, CURLINFO_EFFECTIVE_URL, &text)
    return text.map { String(cString: $0) } ?? url.text
  }

  /// The URL that answered, after redirects, without secrets.
  var effectiveURL: String { url.leading(to: currentURL).shown }

  /// Throws if the transfer has failed.
  func checkResult() throws(FeedError) {
    if let slowness, result == nil { throw tooSlow(slowness) }
    guard let result, result != CURLE_OK else { return }
    if let failure = spool?.failure { throw failure }
    if let refusal = redirects.refusal {
      throw FeedError(
        .refusedRedirect, "could not fetch \"\(name)\"", detail: url.redact(refusal) + ".",
        hint: "If this is intended, use the address itself, or --allow-any-redirect.")
    }
    let said = String(cString: errorText)
    let words = said.isEmpty ? String(cString: curl_easy_strerror(result)) : said
    let detail = url.redact(words) + (words.hasSuffix(".") ? "" : ".")
    let message = "could not fetch \"\(name)\""
    // After the first redirect, the cause is not the user's URL but the server's redirect or answer.
    let wasConnected = offset(CURLINFO_PRETRANSFER_TIME_T) > 0
    switch result {
    case CURLE_URL_MALFORMAT where !wasConnected, CURLE_UNSUPPORTED_PROTOCOL where !wasConnected:
      throw FeedError(.invalidReference, "cannot fetch \"\(name)\"", detail: detail)
    case CURLE_PARTIAL_FILE:
      throw FeedError(
        .truncatedTransfer, "the body of \"\(name)\" is truncated", detail: detail,
        hint: "Fetch it again.")
    case CURLE_OPERATION_TIMEDOUT:
      throw FeedError(.timeout, message, detail: detail, hint: "Try again later.")
    case CURLE_TOO_MANY_REDIRECTS:
      throw FeedError(.tooManyRedirects, message, detail: detail, hint: "Check the URL.")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
      throw FeedError(
        .tls, message, detail: detail,
        hint: "Check the URL's host, this machine's clock and its certificates (ca-certificates).")
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      throw FeedError(
        .network, message, detail: detail, hint: "Check the URL's host and the network.")
    default:
      throw FeedError(
        .network, message, detail: detail, hint: "Check the network; try again later.")
    }
  }
}
