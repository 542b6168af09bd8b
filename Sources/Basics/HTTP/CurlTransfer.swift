internal import CLibcurl
internal import Glibc

/// Takes what a transfer receives, and decides where it may connect.
package protocol CurlReceiver: AnyObject {
  func receive(header line: UnsafeRawBufferPointer)
  /// Takes the next bytes of the body, at most 16 KiB.
  func receive(body bytes: UnsafeRawBufferPointer) -> CurlTransfer.Receipt
  /// Whether a connection to an IP address may be made; empty if it is none.
  func mayConnect(to address: String) -> Bool
  /// Whether the request may be sent to the server at an IP address.
  func mayAsk(at address: String) -> Bool
}

extension CurlReceiver {
  package func mayConnect(to address: String) -> Bool { true }
  package func mayAsk(at address: String) -> Bool { true }
}

/// One request and its answer, over http or https.
///
/// libcurl runs only within `CurlLoop.run` and `resume`, on the caller's thread.
package final class CurlTransfer {
  /// What became of bytes of the body.
  package enum Receipt {
    case taken
    /// They come again after `resume`.
    case paused
    case refused
  }

  package struct Options {
    package var userAgent: String
    package var headers: [String] = []
    package var connectTimeoutMilliseconds: Int
    package var maximumRedirects = 0
    /// What is sent with POST, also after redirects; nil: the request is a GET.
    package var body: [UInt8]?
    /// The most time of the whole request, with its answer; nil for no limit.
    package var timeoutMilliseconds: Int?
    package var credentials: (user: String, password: String?)?
    /// A PEM file with the certificate authorities to trust instead of the system's.
    package var certificateAuthorityFile: String?

    package init(userAgent: String, connectTimeoutMilliseconds: Int) {
      self.userAgent = userAgent
      self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }
  }

  package struct Failure {
    package enum Kind {
      case url, truncated, timeout, redirects, certificate, name, head, other
    }

    package let kind: Kind
    /// libcurl's explanation, as a sentence.
    package let detail: String
  }

  /// The most bytes of the heads and trailers of all answers to a request. An honest one has a few kilobytes.
  private static let longestHead = 256 << 10
  /// The most interim answers, such as "100 Continue", to a request. They may come without an end, at any pace. Servers
  /// send one or two.
  private static let mostInterim = 100

  /// CURL_REDIR_POST_ALL, a macro that Swift does not import: for the statuses 301, 302 and 303.
  private static let allRedirects = 7
  /// CURL_SOCKET_BAD, a macro that Swift does not import.
  private static let noSocket: curl_socket_t = -1

  package weak var receiver: (any CurlReceiver)?
  private let loop: CurlLoop
  private let easy: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>
  private var result: CURLcode?
  /// Whether it is one of the loop's transfers.
  private var isRunning = false
  private var headBytes = 0
  private var interimCount = 0
  /// What is wrong with the head of the answer; nil: nothing.
  private var headFault: String?

  /// Prepares a request; `begin` adds it to the loop.
  package init(_ url: String, options: Options, loop: CurlLoop) throws(LibraryProblem) {
    try Curl.load()
    guard let easy = quake_curl_begin() else { throw Curl.noMemory }
    self.loop = loop
    self.easy = easy
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setOptions(options)
    setCallbacks()
    for field in options.headers { headers = quake_curl_list_append(headers, field) }
    quake_curl_set_headers(easy, headers)
    if let body = options.body { setBody(body) }
    guard quake_curl_set_string(easy, CURLOPT_URL, url) == CURLE_OK else { throw Curl.noMemory }
  }

  deinit {
    end()
    quake_curl_end(easy)
    quake_curl_list_free(headers)
    errorText.deallocate()
  }

  /// Adds the transfer to its loop. Nothing is sent before the loop runs.
  package func begin(for receiver: any CurlReceiver) throws(LibraryProblem) {
    self.receiver = receiver
    try loop.add(easy)
    isRunning = true
  }

  /// Removes the transfer from its loop, which ends it.
  package func end() {
    if isRunning { loop.remove(easy) }
    isRunning = false
  }

  /// Passes on what has been held back since the receiver paused the transfer, perhaps at once.
  package func resume() { quake_curl_resume(easy) }

  func finish(_ code: CURLcode) { result = code }

  /// Whether all has been received, or the transfer has failed.
  package var isFinished: Bool { result != nil }

  /// Whether the request has been sent to a server.
  package var isSent: Bool { quake_curl_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T) > 0 }

  /// The URL of the present request, after redirects.
  package var url: String {
    quake_curl_get_string(easy, CURLINFO_EFFECTIVE_URL).map { String(cString: $0) } ?? ""
  }

  /// Why the transfer failed; nil while it runs, and after a complete answer.
  package var failure: Failure? {
    guard let result, result != CURLE_OK else { return nil }
    if let headFault { return Failure(kind: .head, detail: headFault) }
    let said = String(cString: errorText)
    let words = said.isEmpty ? String(cString: quake_curl_error_text(result)) : said
    let kind: Failure.Kind =
      switch result {
      case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .url
      case CURLE_PARTIAL_FILE: .truncated
      case CURLE_OPERATION_TIMEDOUT: .timeout
      case CURLE_TOO_MANY_REDIRECTS: .redirects
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
        .certificate
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .name
      default: .other
      }
    return Failure(kind: kind, detail: words + (words.hasSuffix(".") ? "" : "."))
  }

  private func setOptions(_ options: Options) {
    quake_curl_set_web_only(easy)
    // Otherwise a cancelled transfer would wait for a slow name resolution.
    quake_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    quake_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, options.maximumRedirects > 0 ? 1 : 0)
    quake_curl_set_long(easy, CURLOPT_MAXREDIRS, options.maximumRedirects)
    quake_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    quake_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    quake_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeoutMilliseconds)
    if let milliseconds = options.timeoutMilliseconds {
      quake_curl_set_long(easy, CURLOPT_TIMEOUT_MS, milliseconds)
    }
    quake_curl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
    // The tool handles signals; libcurl would otherwise use SIGALRM and SIGPIPE.
    quake_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // With HTTP/2, libcurl keeps megabytes of a paused transfer in memory, and a single transfer gains
    // nothing from it.
    quake_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    // The receiver decompresses gzip itself, so that it can report a truncated stream.
    quake_curl_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
    // The headers of a proxy's own answer are not those of the server.
    quake_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    quake_curl_set_string(easy, CURLOPT_USERAGENT, options.userAgent)
    if let credentials = options.credentials {
      quake_curl_set_string(easy, CURLOPT_USERNAME, credentials.user)
      quake_curl_set_string(easy, CURLOPT_PASSWORD, credentials.password)
    }
    if let path = options.certificateAuthorityFile {
      quake_curl_set_string(easy, CURLOPT_CAINFO, path)
    }
  }

  private func setBody(_ body: [UInt8]) {
    // The size comes first: libcurl copies as many bytes.
    quake_curl_set_long(easy, CURLOPT_POSTFIELDSIZE, body.count)
    body.withUnsafeBytes {
      // libcurl takes the bytes as mutable, but does not change them.
      _ = quake_curl_set_pointer(
        easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
    // By default libcurl asks with GET after a redirect: the server would answer, but get nothing.
    quake_curl_set_long(easy, CURLOPT_POSTREDIR, Self.allRedirects)
  }

  private func setCallbacks() {
    // libcurl does not own the object: `deinit` ends the transfer first.
    let owner = Unmanaged.passUnretained(self).toOpaque()
    for option in [
      CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_PREREQDATA,
      CURLOPT_OPENSOCKETDATA,
    ] { quake_curl_set_pointer(easy, option, owner) }
    quake_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    quake_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, owner in
      guard let bytes, let receiver = CurlTransfer.receiver(of: owner) else { return 0 }
      switch receiver.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) {
      case .taken: return size * count
      case .paused: return quake_curl_pause
      case .refused: return 0
      }
    }
    quake_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, owner in
      guard let bytes, let transfer = CurlTransfer.transfer(of: owner),
        let receiver = transfer.receiver
      else { return 0 }
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      guard transfer.admits(line) else { return 0 }
      receiver.receive(header: line)
      return size * count
    }
    let isAsked = quake_curl_set_prerequest(easy) { owner, address, _, _, _ in
      guard let address, let receiver = CurlTransfer.receiver(of: owner),
        receiver.mayAsk(at: String(cString: address))
      else { return CURL_PREREQFUNC_ABORT }
      return CURL_PREREQFUNC_OK
    }
    // libcurl before 7.80 does not ask, so it must not follow a redirect.
    if isAsked != CURLE_OK { quake_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0) }
    quake_curl_set_opensocket(easy) { owner, _, address in
      guard let address, let receiver = CurlTransfer.receiver(of: owner),
        receiver.mayConnect(to: CurlTransfer.text(of: address))
      else { return CurlTransfer.noSocket }
      let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
      return socket(address.pointee.family, type, address.pointee.protocol)
    }
  }

  /// Counts a line of the head; false if it is one too many.
  private func admits(_ line: UnsafeRawBufferPointer) -> Bool {
    headBytes += line.count
    // "HTTP/1.1 100 Continue"
    if line.starts(with: "HTTP/".utf8), line.drop(while: { $0 != 0x20 }).dropFirst().first == 0x31 {
      interimCount += 1
    }
    if interimCount > Self.mostInterim {
      headFault = "The server sent more than \(Self.mostInterim) interim answers, and no final one."
    } else if headBytes > Self.longestHead {
      headFault = "The head of the answer has more than \(Self.longestHead >> 10) KiB."
    }
    return headFault == nil
  }

  private static func transfer(of owner: UnsafeMutableRawPointer?) -> CurlTransfer? {
    owner.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func receiver(of owner: UnsafeMutableRawPointer?) -> (any CurlReceiver)? {
    transfer(of: owner)?.receiver
  }

  private static func text(of address: UnsafePointer<curl_sockaddr>) -> String {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    // The address is longer than its type, which declares only the beginning.
    guard let place = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return "" }
    let isText = (UnsafeRawPointer(address) + place).withMemoryRebound(
      to: sockaddr.self, capacity: 1
    ) {
      getnameinfo(
        $0, socklen_t(address.pointee.addrlen), &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST) == 0
    }
    let name = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return isText ? String(decoding: name, as: UTF8.self) : ""
  }
}
