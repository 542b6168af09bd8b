internal import Basics
internal import CDynamicCurl
internal import Glibc

/// One GET request and its answer, which libcurl receives while a caller waits for it.
///
/// It holds a limited number of bytes: a caller that is slow slows down the server, and nothing else.
final class Transfer {
  /// The outcome of a wait.
  enum Outcome {
    /// There are bytes, or the head is complete.
    case progress
    /// There is no more to come; see `failure`.
    case ended
    case timedOut
    /// The wake descriptor is readable.
    case woken
  }

  private static let mostBytes = 256 << 10
  private static let connectTimeout = 30_000

  private(set) var head = ResponseHead()
  private var received: [UInt8] = []
  private var isPaused = false
  private var result: CURLcode?
  private let address: ServerAddress
  private let loop: UnsafeMutableRawPointer
  private let easy: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>

  /// Begins a request; nothing is sent before the first wait.
  init(_ url: String, of address: ServerAddress, accept: String) throws(ServerError) {
    try CurlLibrary.load()
    guard let loop = quake_curl_loop_begin() else { throw Self.noMemory }
    guard let easy = quake_curl_begin() else {
      quake_curl_loop_end(loop)
      throw Self.noMemory
    }
    self.address = address
    self.loop = loop
    self.easy = easy
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setOptions()
    for field in ["Accept: \(accept)", "Cache-Control: no-cache"] + address.headers {
      headers = quake_curl_list_append(headers, field)
    }
    quake_curl_set_headers(easy, headers)
    guard quake_curl_set_string(easy, CURLOPT_URL, url) == CURLE_OK,
      quake_curl_loop_add(loop, easy) == CURLM_OK
    else { throw Self.noMemory }
  }

  deinit {
    quake_curl_loop_remove(loop, easy)
    quake_curl_end(easy)
    quake_curl_loop_end(loop)
    quake_curl_list_free(headers)
    errorText.deallocate()
  }

  private static let noMemory = ServerError(
    .unavailable, "could not begin a request: libcurl has no memory")

  private func setOptions() {
    // libcurl does not own the object: `deinit` ends the transfer first.
    let owner = Unmanaged.passUnretained(self).toOpaque()
    quake_curl_set_pointer(easy, CURLOPT_WRITEDATA, owner)
    quake_curl_set_pointer(easy, CURLOPT_HEADERDATA, owner)
    quake_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    quake_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
      guard let bytes, let owner else { return 0 }
      return Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
        .take(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    quake_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
      guard let bytes, let owner else { return 0 }
      Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
        .head.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
      return size * count
    }
    quake_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    // A redirect could lead the credentials elsewhere; `ServerAnswer` names its target.
    quake_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
    quake_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    quake_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    quake_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Self.connectTimeout)
    quake_curl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
    // The tool handles signals; libcurl would otherwise use SIGALRM and SIGPIPE.
    quake_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    quake_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    // With HTTP/2, libcurl keeps megabytes of a paused transfer in memory.
    quake_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    quake_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    quake_curl_set_string(easy, CURLOPT_USERAGENT, "quake-watch")
    if let user = address.user {
      quake_curl_set_string(easy, CURLOPT_USERNAME, user)
      quake_curl_set_string(easy, CURLOPT_PASSWORD, address.password)
    }
  }

  // MARK: - What libcurl calls

  private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard received.count < Self.mostBytes else {
      isPaused = true
      return quake_curl_pause
    }
    received.append(contentsOf: bytes)
    return bytes.count
  }

  // MARK: - What the caller calls

  /// The bytes of the body that have come.
  func take() -> [UInt8] {
    let bytes = received
    received = []
    return bytes
  }

  /// Whether no more bytes come.
  var hasEnded: Bool { result != nil && received.isEmpty }

  /// Receives what has come, without waiting.
  func receive() {
    guard result == nil else { return }
    if isPaused, received.count < Self.mostBytes {
      isPaused = false
      // libcurl may hand over what it has kept at once.
      quake_curl_resume(easy)
    }
    var code = CURLE_OK
    if quake_curl_loop_run(loop, &code) != 0 { result = code }
  }

  /// Receives until there are bytes, or until the head becomes complete.
  func wait(until deadline: Deadline, wake: Int32) -> Outcome {
    let hadHead = head.isComplete
    while true {
      receive()
      if !received.isEmpty || head.isComplete != hadHead { return .progress }
      if result != nil { return .ended }
      if deadline.hasPassed { return .timedOut }
      if quake_curl_loop_wait(loop, wake, deadline.pollTimeout) != 0 { return .woken }
    }
  }

  /// Why the transfer ended without a complete answer; nil if the server ended it.
  var failure: ServerError? {
    guard let result, result != CURLE_OK else { return nil }
    let said = String(cString: errorText)
    let words = said.isEmpty ? String(cString: quake_curl_error_text(result)) : said
    let detail = words + (words.hasSuffix(".") ? "" : ".")
    let message = "could not read from server \"\(address.shown)\""
    switch result {
    case CURLE_URL_MALFORMAT:
      return ServerError(
        .wrongAddress, "cannot read from server \"\(address.shown)\"", detail: detail,
        hint: "--url needs an address such as http://127.0.0.1:8080.")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
      return ServerError(
        .unavailable, message, detail: detail,
        hint: "Check the host's name, this machine's clock and its certificates (ca-certificates).")
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return ServerError(
        .unavailable, message, detail: detail, hint: "Check the host's name and the network.")
    default:
      return ServerError(
        .unavailable, message, detail: detail,
        hint: "Check that quake-serve runs there, and the network.")
    }
  }
}

/// libcurl, which is loaded for the first request.
enum CurlLibrary {
  /// Why it cannot be used; nil if it can. The initialisation of a Swift global is thread-safe.
  private static let problem: String? = quake_curl_load().map { String(cString: $0) }

  /// Makes sure that libcurl is there.
  static func load() throws(ServerError) {
    guard let problem else { return }
    throw ServerError(
      .noLibrary, "cannot follow a server, because libcurl could not be loaded",
      detail: "The system's loader says: \(problem).",
      hint: "Install libcurl: package libcurl4 on Debian and Ubuntu, libcurl on Fedora.")
  }
}

/// How long a server may send nothing.
///
/// A server does not tell clients the interval of its heartbeats: the limit follows the observed intervals.
final class SilenceLimit {
  private static let shortest = Duration.seconds(60)
  private static let longest = Duration.seconds(600)

  /// The limit at the moment.
  private(set) var duration = shortest

  /// Doubles the limit after it has passed: the server may be running but busy.
  func extend() {
    duration = min(duration * 2, Self.longest)
  }

  /// Takes note of a heartbeat that came after this much silence.
  func learn(_ interval: Duration) {
    duration = min(max(Self.shortest, interval * 3), Self.longest)
  }
}

/// The status and the header fields of an answer that matter here.
struct ResponseHead {
  private(set) var status = 0
  private(set) var contentType = ""
  private(set) var location = ""
  /// How long the server asks to wait.
  private(set) var retryAfter: Duration?
  /// Whether the body comes next.
  private(set) var isComplete = false

  /// The longest time to wait for which a server can ask.
  private static let longestPause: Int64 = 300

  /// Takes in a line of the head. A status line begins a new head, after one of a proxy or of status 100.
  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    var line = bytes[...]
    while let last = line.last, last == 0x0D || last == 0x0A || last == 0x20 { line.removeLast() }
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      self = ResponseHead()
      status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      return
    }
    if text.isEmpty {
      isComplete = status >= 200
      return
    }
    guard let colon = text.firstIndex(of: ":") else { return }
    let value = String(text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
    switch text[..<colon].lowercased() {
    case "content-type": contentType = value.prefix { $0 != ";" && $0 != " " }.lowercased()
    case "location": location = value
    case "retry-after":
      // It may also be a date; then the usual pause applies.
      if let seconds = Int64(value), seconds >= 0 {
        retryAfter = .seconds(min(seconds, Self.longestPause))
      }
    default: break
    }
  }
}
