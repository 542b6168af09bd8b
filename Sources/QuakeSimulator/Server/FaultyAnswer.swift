/// Makes answers faulty.
enum FaultyAnswer {
  /// The answer that `fault` makes of a good one; the faults of contents (stale, half, ...) are made
  /// where the document is, and pass through.
  static func spoil(
    _ answer: Answer, _ fault: FaultKind, acceptsGzip: Bool, retryAfter: Int
  ) -> Answer {
    var answer = answer
    switch fault {
    case .stale, .noEvents, .garbageTimes, .invalidUTF8, .half:
      if acceptsGzip { compress(&answer) }
    case .empty:
      answer.body = []
    case .truncated:
      answer.body.removeLast(answer.body.count - answer.body.count * 3 / 5)
      if acceptsGzip { compress(&answer) }
    case .truncatedGzip:
      if acceptsGzip { compress(&answer) }
      answer.body.removeLast(answer.body.count - answer.body.count * 3 / 5)
    case .short:
      if acceptsGzip { compress(&answer) }
      answer.delivery = .closed(after: answer.body.count / 2)
    case .stall:
      if acceptsGzip { compress(&answer) }
      answer.delivery = .stalled(after: answer.body.count / 2)
    case .html:
      answer = page("Service Temporarily Unavailable", status: 200)
    case .notFound:
      answer = page("Not Found", status: 404)
    case .tooManyRequests:
      answer = page("Too Many Requests", status: 429)
      answer.headers.append(Answer.Header("Retry-After", "\(retryAfter)"))
    case .unavailable:
      answer = page("Service Unavailable", status: 503)
      answer.headers.append(Answer.Header("Retry-After", "\(retryAfter)"))
    }
    return answer
  }

  private static func compress(_ answer: inout Answer) {
    guard let compressed = Gzip.compress(answer.body) else { return }
    answer.body = compressed
    answer.headers.append(Answer.Header("Content-Encoding", "gzip"))
  }

  private static func page(_ words: String, status: UInt32) -> Answer {
    Answer(
      status: status, headers: [Answer.Header("Content-Type", "text/html; charset=utf-8")],
      body: Array(
        """
        <!DOCTYPE html>
        <html><head><title>\(words)</title></head>
        <body><h1>\(words)</h1><p>Reference&#32;#18.5e2f1202</p></body></html>

        """.utf8))
  }
}
