internal import Basics
internal import Compression
internal import QuakeConsumers

/// Posts messages to a receiver, with the headers of Standard Webhooks.
///
/// libcurl keeps the connection for the next request.
final class WebhookSink: Sink {
  private let plan: WebhookPlan
  private let loop: CurlLoop

  init(_ plan: WebhookPlan, loop: CurlLoop) {
    self.plan = plan
    self.loop = loop
  }

  func begin(_ messages: [Message]) -> any DeliveryAttempt {
    let body = plan.form.body(messages, asArray: plan.isBatch)
    do throws(Curl.Problem) {
      return try WebhookAttempt(
        plan, sends: plan.compresses ? Self.compressed(body) : body,
        headers: headers(id: messages.first?.id ?? "", body), loop: loop)
    } catch {
      let hint = error.hint.map { " \($0)" } ?? ""
      return DecidedAttempt(
        .failed(DeliveryFailure("could not begin a request: \(error.detail)\(hint)")))
    }
  }

  /// - Parameter id: Of the first message: it names the request, also when it is repeated.
  private func headers(id: String, _ body: [UInt8]) -> [String] {
    let timestamp = WallClock.microseconds / 1_000_000
    var headers = [
      "Content-Type: \(plan.form.mediaType(isArray: plan.isBatch))",
      "webhook-id: \(id)", "webhook-timestamp: \(timestamp)",
      // libcurl would wait for the receiver's permission to send a long body, and few give it.
      "Expect:",
    ]
    if plan.compresses { headers.append("Content-Encoding: gzip") }
    if !plan.keys.isEmpty {
      // Receivers verify what they read, and most have decompressed it by then.
      let signatures = WebhookKey.signatures(plan.keys, id: id, timestamp: timestamp, body: body)
      headers.append("webhook-signature: \(signatures)")
    }
    return headers + plan.headers
  }

  private static func compressed(_ body: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    let compressor = GzipCompressor()
    // It throws only what its closure throws.
    try? body.withUnsafeBytes { bytes in
      try compressor.compress(bytes) { result += $0 }
      try compressor.finish { result += $0 }
    }
    return result
  }
}
