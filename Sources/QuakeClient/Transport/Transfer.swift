internal import Basics

/// One request and its answer, which libcurl receives while a caller waits for it.
///
/// It holds a limited number of bytes: a caller that is slow slows down the server, and nothing else.
final class Transfer {
  enum Outcome {
    /// There are bytes, or the head is complete.
    case progress
    /// There is no more to come; see `failure`.
    case ended
    case timedOut
    case woken
  }

  private static let mostBytes = 256 << 10
  private static let connectTimeout = 30_000

  private(set) var head = HTTPHeaders(followsRedirects: false)
  private var received: [UInt8] = []
  private var isPaused = false
  private let address: ServerAddress
  private let loop = CurlLoop()
  private let curl: CurlTransfer

  /// Begins a request; nothing is sent before the first wait.
  ///
  /// - Parameter posts: Whether it is a POST, without a body.
  init(
    _ url: String, of address: ServerAddress, accept: String, posts: Bool = false
  ) throws(ServerError) {
    self.address = address
    var request = CurlTransfer.Options(
      userAgent: "quake-watch", connectTimeoutMilliseconds: Self.connectTimeout)
    if posts { request.body = [] }
    request.headers = ["Accept: \(accept)", "Cache-Control: no-cache"] + address.headers
    // A redirect could lead these elsewhere; so none is followed, and `ServerAnswer` names its target.
    request.credentials = address.user.map { (user: $0, password: address.password) }
    do throws(LibraryProblem) {
      curl = try CurlTransfer(url, options: request, loop: loop)
      try curl.begin(for: self)
    } catch {
      guard let hint = error.hint else {
        throw ServerError(.unavailable, "could not begin a request", detail: error.detail)
      }
      throw ServerError(
        .noLibrary, "cannot follow a server, because libcurl could not be loaded",
        detail: error.detail, hint: hint)
    }
  }

  // MARK: - What the caller calls

  /// The bytes of the body that have come.
  func take() -> [UInt8] {
    let bytes = received
    received = []
    return bytes
  }

  var hasEnded: Bool { curl.isFinished && received.isEmpty }

  /// Receives what has come, without waiting.
  func receive() {
    guard !curl.isFinished else { return }
    if isPaused, received.count < Self.mostBytes {
      isPaused = false
      curl.resume()
    }
    loop.run()
  }

  /// Receives until there are bytes, or until the head becomes complete.
  func wait(until deadline: Deadline, wake: Int32) -> Outcome {
    let hadHead = head.isComplete
    while true {
      receive()
      if !received.isEmpty || head.isComplete != hadHead { return .progress }
      if curl.isFinished { return .ended }
      if deadline.hasPassed { return .timedOut }
      if loop.wait(milliseconds: deadline.pollTimeout, beside: [wake]) { return .woken }
    }
  }

  /// Why the transfer ended without a complete answer; nil if the server ended it.
  var failure: ServerError? {
    guard let failure = curl.failure else { return nil }
    let detail = failure.detail
    let message = "could not read from server \"\(address.shown)\""
    switch failure.kind {
    case .url:
      return ServerError(
        .wrongAddress, "cannot read from server \"\(address.shown)\"", detail: detail,
        hint: "--url needs an address such as http://127.0.0.1:8080.")
    case .certificate:
      return ServerError(
        .unavailable, message, detail: detail,
        hint: "Check the host's name, this machine's clock and its certificates (ca-certificates).")
    case .name:
      return ServerError(
        .unavailable, message, detail: detail, hint: "Check the host's name and the network.")
    default:
      return ServerError(
        .unavailable, message, detail: detail,
        hint: "Check that quake-serve runs there, and the network.")
    }
  }
}

extension Transfer: CurlReceiver {
  func receive(header line: UnsafeRawBufferPointer) { head.add(line: line) }

  func receive(body bytes: UnsafeRawBufferPointer) -> CurlTransfer.Receipt {
    guard received.count < Self.mostBytes else {
      isPaused = true
      return .paused
    }
    received.append(contentsOf: bytes)
    return .taken
  }
}

/// How long a server may send nothing.
///
/// A server does not tell clients the interval of its heartbeats: the limit follows the observed intervals.
final class SilenceLimit {
  private static let shortest = Duration.seconds(60)
  private static let longest = Duration.seconds(600)

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

extension HTTPHeaders {
  /// The longest time to wait for which a server can ask.
  private static let longestPause: Int64 = 300

  var contentType: String {
    (value("content-type") ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
  }

  /// How long the server asks to wait. If it gives a date, the usual pause applies.
  var retryAfter: Duration? {
    guard let seconds = value("retry-after").flatMap({ Int64($0) }), seconds >= 0 else {
      return nil
    }
    return .seconds(min(seconds, Self.longestPause))
  }
}
