internal import Basics
internal import CommandLine
internal import Glibc
internal import QuakeModel

/// A request that posts messages, and the judgement of its answer.
final class WebhookAttempt: DeliveryAttempt {
  /// The most bytes of an answer's body: it is read so that the connection can be used again.
  private static let longestAnswer = 256 << 10
  /// How much of an answer is kept to explain a failure.
  private static let mostKept = 4096
  /// How much of it a reason quotes.
  private static let mostQuoted = 300

  private let plan: WebhookPlan
  private let curl: CurlTransfer
  private var head = HTTPHeaders()
  private var answer: [UInt8] = []
  private var answerSize = 0
  private var redirects: RedirectGuard
  /// Why a redirect to another host was refused.
  private var refusal: String?

  init(
    _ plan: WebhookPlan, sends body: [UInt8], headers: [String], loop: CurlLoop
  ) throws(LibraryProblem) {
    self.plan = plan
    redirects = RedirectGuard(
      trusts: plan.trustsRedirects, usesProxy: plan.mayUseProxy, reach: nil,
      kind: plan.addressKind, shown: Self.shown)
    var request = CurlTransfer.Options(
      userAgent: plan.userAgent,
      connectTimeoutMilliseconds: Int(plan.connectTimeout.wholeMilliseconds))
    request.timeoutMilliseconds = Int(plan.timeout.wholeMilliseconds)
    request.headers = headers
    request.body = body
    request.maximumRedirects = WebhookPlan.mostRedirects
    request.certificateAuthorityFile = plan.certificateAuthorityFile
    curl = try CurlTransfer(plan.url.text, options: request, loop: loop)
    try curl.begin(for: self)
  }

  /// The transfer is the loop's.
  var descriptors: [pollfd] { [] }
  var deadline: Deadline? { nil }

  func cancel() { curl.end() }

  func advance() -> DeliveryOutcome? {
    guard curl.isFinished else { return nil }
    curl.end()
    // An answer that was cut because of its length is complete enough.
    if let failure = curl.failure, answerSize <= Self.longestAnswer || !head.isComplete {
      return .failed(DeliveryFailure(redacted(explanation(of: failure))))
    }
    if (200..<300).contains(head.status) { return .delivered }
    let retryAfter = head.retryAfter(now: .now()).map { Duration.seconds($0) }
    return .failed(
      DeliveryFailure(answered, retryAfter: retryAfter, isFinal: Self.isFinal(head.status)))
  }

  /// Whether the receiver will answer the same again. It may have been too slow (408) or have had too much (429).
  private static func isFinal(_ status: Int) -> Bool {
    (400..<500).contains(status) && status != 408 && status != 429
  }

  private func explanation(of failure: CurlTransfer.Failure) -> String {
    if let refusal = refusal ?? redirects.refusal {
      return "\(refusal). If this is intended, use the address itself, or allow-private."
    }
    let hint: String? =
      switch failure.kind {
      case .certificate: "Check the host, this machine's clock and its certificates."
      case .redirects, .url: "Check the address."
      case .name: "Check the host's name and the network."
      default: nil
      }
    return failure.detail + (hint.map { " " + $0 } ?? "")
  }

  /// The status of the answer and the beginning of its body.
  private var answered: String {
    var text = "the receiver answered with status \(head.status)"
    if head.status == 410 {
      text += ", which means that it is gone for good: change its address, or remove the consumer"
    }
    let body = PrintableText.line(
      redacted(String(decoding: answer, as: UTF8.self)), atMost: Self.mostQuoted)
    let words = body.split(separator: " ").joined(separator: " ")
    return words.isEmpty ? text : "\(text): \(words)"
  }

  /// A text of the receiver's or of libcurl's without the secrets of the request.
  private func redacted(_ text: String) -> String {
    let values = plan.headers.flatMap { field -> [String] in
      let value = field.drop { $0 != ":" }.dropFirst().drop { $0 == " " }
      // As in "Authorization: Bearer SECRET".
      return [String(value)] + value.split(separator: " ").dropFirst().map(String.init)
    }
    return SecretPieces(
      plan.url.secrets + values.filter { $0.utf8.count >= 4 } + plan.keys.map(\.secret)
    ).hidden(in: text)
  }

  /// Where a redirect leads, without a path.
  private static func shown(_ url: String) -> String {
    (try? ReceiverURL(url))?.shown ?? "another address"
  }
}

extension WebhookAttempt: CurlReceiver {
  func receive(header line: UnsafeRawBufferPointer) { head.add(line: line) }

  func receive(body bytes: UnsafeRawBufferPointer) -> CurlTransfer.Receipt {
    // The body of a redirect is none of the answer's.
    guard head.isComplete else { return .taken }
    answerSize += bytes.count
    answer += bytes.prefix(max(0, Self.mostKept - answer.count))
    return answerSize <= Self.longestAnswer ? .taken : .refused
  }

  func mayConnect(to address: String) -> Bool { redirects.admits(address: address) }

  func mayAsk(at address: String) -> Bool {
    if !plan.headers.isEmpty, !plan.trustsRedirects,
      CurlURL(curl.url)?.host.lowercased() != plan.url.host.lowercased()
    {
      refusal =
        "The receiver redirects to another host, which must not get the header file's secrets"
      return false
    }
    return redirects.admits(url: curl.url, address: address)
  }
}
