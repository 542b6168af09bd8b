import CLibcurl
import Glibc
import QuakeModel

/// One HTTP request and its response, driven by whoever reads it.
///
/// libcurl runs only within `open` and `read`. Its callbacks fill a buffer of fixed size and pause
/// the transfer when that is full, so that a slow reader slows the server down and nothing else.
final class HTTPTransfer {
  private static let bufferCapacity = 64 * 1024
  private static let waitMilliseconds = 250

  /// The URL without user name and password.
  let name: String
  private(set) var headers = HTTPHeaders()
  private let url: String
  private let options: FeedClient.Options
  private let multi: CurlMulti
  private let easy: UnsafeMutableRawPointer
  private var requestHeaders: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>
  private let buffer: UnsafeMutableRawBufferPointer
  private var bufferStart = 0
  private var bufferEnd = 0
  private var isPaused = false
  private var result: CURLcode?
  /// Counts calls of the callbacks: whether anything came while waiting.
  private var activity = 0

  init(
    url: String, validators: FeedValidators?, options: FeedClient.Options, multi: CurlMulti
  ) throws(FeedError) {
    name = URLText.redacted(url)
    self.url = url
    self.options = options
    self.multi = multi
    guard let easy = curl_easy_init() else {
      preconditionFailure("libcurl has no memory for a transfer")
    }
    self.easy = easy
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    buffer = .allocate(byteCount: Self.bufferCapacity, alignment: 16)
    setOptions()
    setRequestHeaders(validators)
    guard quake_curl_set_string(easy, CURLOPT_URL, url) == CURLE_OK,
      curl_multi_add_handle(multi.handle, easy) == CURLM_OK
    else {
      throw FeedError(.network, "could not fetch \"\(name)\"", detail: "libcurl has no memory.")
    }
  }

  deinit {
    curl_multi_remove_handle(multi.handle, easy)
    curl_easy_cleanup(easy)
    curl_slist_free_all(requestHeaders)
    errorText.deallocate()
    buffer.deallocate()
  }

  private func setOptions() {
    // Unowned by libcurl: `deinit` ends the transfer before the object goes away.
    let owner = Unmanaged.passUnretained(self).toOpaque()
    quake_curl_set_pointer(easy, CURLOPT_PRIVATE, owner)
    quake_curl_set_pointer(easy, CURLOPT_WRITEDATA, owner)
    quake_curl_set_pointer(easy, CURLOPT_HEADERDATA, owner)
    quake_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    quake_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
      guard let bytes, let owner else { return 0 }
      let transfer = Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue()
      return transfer.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    quake_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
      guard let bytes, let owner else { return 0 }
      let transfer = Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue()
      transfer.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
      return size * count
    }
    quake_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    quake_curl_set_string(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    quake_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 1)
    quake_curl_set_long(easy, CURLOPT_MAXREDIRS, Int(options.maximumRedirects))
    quake_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    quake_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    quake_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeoutMilliseconds)
    // Signals are the tool's; libcurl would use SIGALRM and SIGPIPE.
    quake_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // With HTTP/2 libcurl keeps megabytes of a paused transfer in memory; one transfer at a time
    // has nothing to gain from it.
    quake_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    // gzip is ours, so that a truncated stream is told exactly.
    quake_curl_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
    // A proxy's own answer is not the feed's.
    quake_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    quake_curl_set_string(easy, CURLOPT_USERAGENT, options.userAgent)
    if let path = options.certificateAuthorityFile {
      quake_curl_set_string(easy, CURLOPT_CAINFO, path)
    }
  }

  private func setRequestHeaders(_ validators: FeedValidators?) {
    func add(_ name: String, _ value: String?) {
      // A line break would begin another header.
      guard let value, !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 }) else { return }
      requestHeaders = curl_slist_append(requestHeaders, "\(name): \(value)")
    }
    add("Accept", "application/geo+json, application/json, text/csv, */*;q=0.5")
    add("Accept-Encoding", "gzip")
    add("If-None-Match", validators?.etag)
    add("If-Modified-Since", validators?.lastModified)
    quake_curl_set_list(easy, CURLOPT_HTTPHEADER, requestHeaders)
  }
}

// MARK: - What libcurl calls

extension HTTPTransfer {
  fileprivate func take(header line: UnsafeRawBufferPointer) {
    activity += 1
    headers.take(line: line)
  }

  fileprivate func take(body bytes: UnsafeRawBufferPointer) -> Int {
    activity += 1
    if buffer.count - bufferEnd < bytes.count, bufferStart > 0 {
      let rest = UnsafeRawBufferPointer(rebasing: buffer[bufferStart..<bufferEnd])
      buffer.copyMemory(from: rest)
      bufferEnd -= bufferStart
      bufferStart = 0
    }
    // libcurl gives at most CURL_MAX_WRITE_SIZE (16 KiB), so an empty buffer always has room.
    guard buffer.count - bufferEnd >= bytes.count else {
      isPaused = true
      return quake_curl_pause
    }
    UnsafeMutableRawBufferPointer(rebasing: buffer[bufferEnd...]).copyMemory(from: bytes)
    bufferEnd += bytes.count
    return bytes.count
  }

  /// The transfer has ended, well or not.
  func didFinish(_ code: CURLcode) {
    activity += 1
    result = code
  }
}

// MARK: - What the reader calls

extension HTTPTransfer {
  /// Waits for the headers of the response that counts.
  func waitForHeaders() throws(FeedError) {
    try drive { $0.headers.isComplete || $0.bufferEnd > $0.bufferStart }
    if !headers.isComplete { try checkResult() }
  }

  /// Reads the body on; 0 at its end.
  func read(into target: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    if bufferEnd == bufferStart {
      bufferStart = 0
      bufferEnd = 0
      if isPaused {
        isPaused = false
        // It may hand out at once what it held back.
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

  /// Runs the transfer until it has ended or `isEnough` says so.
  private func drive(until isEnough: (HTTPTransfer) -> Bool) throws(FeedError) {
    var seen = activity
    var idleSince = Self.now()
    while result == nil, !isEnough(self) {
      if options.interrupt?() == true {
        throw FeedError(.interrupted, "interrupted while fetching \"\(name)\"")
      }
      multi.perform()
      if result != nil || isEnough(self) { return }
      let now = Self.now()
      // Before the request is on its way it is the connect timeout that counts.
      if activity != seen || offset(CURLINFO_PRETRANSFER_TIME_T) == 0 {
        seen = activity
        idleSince = now
      }
      let left = options.stallTimeoutMilliseconds - (now - idleSince)
      guard left > 0 else {
        throw FeedError(
          .timeout, "could not fetch \"\(name)\"",
          detail: "The server sent nothing for \(Self.seconds(options.stallTimeoutMilliseconds)).",
          hint: "Try again later.")
      }
      multi.wait(milliseconds: min(left, Self.waitMilliseconds))
    }
  }

  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  private static func seconds(_ milliseconds: Int) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }

  private func offset(_ info: CURLINFO) -> Int {
    var value: curl_off_t = 0
    quake_curl_get_offset(easy, info, &value)
    return Int(value)
  }

  /// How many bytes of the body have come over the wire.
  var bytesReceived: Int { offset(CURLINFO_SIZE_DOWNLOAD_T) }

  /// The URL that answered, after redirects, without user name and password.
  var effectiveURL: String {
    var text: UnsafePointer<CChar>?
    quake_curl_get_string(easy, CURLINFO_EFFECTIVE_URL, &text)
    return URLText.redacted(text.map { String(cString: $0) } ?? url)
  }

  /// Throws when the transfer has ended badly.
  private func checkResult() throws(FeedError) {
    guard let result, result != CURLE_OK else { return }
    let said = String(cString: errorText)
    let words = said.isEmpty ? String(cString: curl_easy_strerror(result)) : said
    let detail = URLText.redact(words, of: url) + (words.hasSuffix(".") ? "" : ".")
    let message = "could not fetch \"\(name)\""
    // Past that point it is not the user's URL that is wrong but the server's redirect or answer.
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
