package enum FaultKind: String, CaseIterable, Sendable {
  /// A body generated 20 hours ago.
  case stale
  /// Status 200 and a body of no bytes.
  case empty
  /// A body cut in the middle, with a matching Content-Length, so that HTTP does not reveal it.
  case truncated
  /// A connection closed before all of the announced length was sent.
  case short
  /// A page for people, with status 200.
  case html
  /// Times and updates in 1970, as on 7 October 2024.
  case garbageTimes = "garbage-times"
  /// Service unavailable, with `Retry-After`.
  case unavailable = "503"
  case half
}

package struct ScheduledFault: Sendable {
  package var kind: FaultKind
  /// The number of answers for each faulty one: 1 (always) or more.
  package var every: Int

  /// `kind` goes wrong at each answer whose number is a multiple of `every` (1 or more).
  package init(_ kind: FaultKind, every: Int) {
    precondition(every >= 1)
    self.kind = kind
    self.every = every
  }

  /// Reads `KIND` (always) or `KIND:N` (every Nth answer); nil if it is anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, let kind = FaultKind(rawValue: String(parts[0])) else { return nil }
    let every = parts.count == 2 ? Int(parts[1]) : 1
    guard let every, every >= 1 else { return nil }
    self.init(kind, every: every)
  }
}

enum FaultyAnswer {
  /// The answer that `fault` makes of a good one; the faults of contents (stale, half, ...) are made
  /// where the document is, and pass through.
  static func spoil(_ answer: Answer, _ fault: FaultKind, retryAfter: Int) -> Answer {
    var answer = answer
    switch fault {
    case .stale, .garbageTimes, .half: break
    case .empty: answer.body = []
    case .truncated: answer.body.removeLast(answer.body.count - answer.body.count * 3 / 5)
    case .short: answer.sentBytes = answer.body.count / 2
    case .html: answer = page("Service Temporarily Unavailable", status: 200)
    case .unavailable:
      answer = page("Service Unavailable", status: 503)
      answer.headers.append(("Retry-After", "\(retryAfter)"))
    }
    return answer
  }

  private static func page(_ words: String, status: UInt32) -> Answer {
    Answer(
      status: status, headers: [("Content-Type", "text/html; charset=utf-8")],
      body: Array(
        """
        <!DOCTYPE html>
        <html><head><title>\(words)</title></head>
        <body><h1>\(words)</h1><p>Reference&#32;#18.5e2f1202</p></body></html>

        """.utf8))
  }
}
