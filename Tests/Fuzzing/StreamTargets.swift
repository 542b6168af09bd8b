@testable import Basics
@testable import QuakeClient
@testable import QuakeModel

/// What a server sends to a client: the stream of changes, and the heads of answers.
enum StreamTargets {
  static let all: [FuzzTarget] = [
    FuzzTarget(
      text: "sse", longest: 4096,
      words: [
        "data: ", "event: ", "id: ", "\n\n", "\r\n", "snapshot", "heartbeat", "reset",
        "1042.9f3ac2d1",
        "\"token\":", "\"position\":", "\"op\":\"insert\"", "\"old\":null", "\"new\":{",
        "\"transaction\":{",
        "\"at\":\"2026-01-31T12:00:00.000Z\"", "\"code\":", "\"changed\":[", "\"reason\":",
        "\"after\":",
        "-000044-01-01T00:00:00.000Z", "\"message\":", "unavailable", "\"pid\":", "\"import\":",
      ],
      seeds: [stream, ": comment\nretry: 5\n\ndata: {}\n\n"], check: { checkStream(Array($0.utf8)) }
    ),
    FuzzTarget(
      text: "answers", longest: 2048,
      words: [
        "HTTP/1.1 ", "retry-after: ", "cache-control: max-age=", "expires: ", "date: ", "etag: ",
        "last-modified: ", "location: ", "Wed, 31 Jan 2024 12:34:56 GMT", "9223372036854775807",
        "\r\n\r\n", "{\"detail\":", "http://", "https://user:password@",
      ],
      seeds: [
        "HTTP/1.1 200 OK\r\nDate: Wed, 31 Jan 2024 12:34:56 GMT\r\nCache-Control: public, max-age=60\r\n"
          + "ETag: \"x\"\r\nExpires: Wed, 31 Jan 2024 12:35:56 GMT\r\n\r\n{}",
        "HTTP/1.1 429 Slow\r\nRetry-After: 120\r\n\r\n{\"title\":\"x\",\"detail\":\"Wait.\"}",
        "HTTP/2 302\nlocation: https://a.example/?key=secret\nretry-after: Wed, 31 Jan 2024 12:34:56 GMT\n\n",
      ], check: AnswerCheck.check),
  ]

  /// A stream as the server writes it.
  private static let stream: String = {
    var json = JSONWriter()
    var text = "event: heartbeat\nid: 7.00000007\ndata: {\"token\":\"7.00000007\"}\n\n"
    guard let token = ChangeToken(number: 8, nonce: "9f3ac2d1") else { return text }
    let transaction = ChangeTransaction(
      token: token, author: "a", context: nil, application: "psql", user: "u", processID: 1,
      client: nil, at: Timestamp(microseconds: 1_700_000_000_000_000), importID: 3,
      counts: ChangeCounts())
    for (position, event) in FeedSamples.events.enumerated() {
      let change = Change(
        transaction: transaction, position: Int64(position), op: .insert, code: event.code,
        changed: [], old: nil, new: event)
      json.change(change) { _ in }
      text +=
        "id: \(token)-\(position + 1)\ndata: \(String(decoding: json.take(), as: UTF8.self))\n\n"
    }
    return text
      + "event: reset\ndata: {\"token\":\"8.9f3ac2d1\",\"after\":\"7.00000007\",\"reason\":\"snapshot\"}\n\n"
  }()

  private struct Events {
    var events: [ServerSentEvent] = []
    var changes: [Change] = []
    var kinds: [String] = []
    var hasFailed = false

    init(_ pieces: [[UInt8]]) {
      var parser = StreamEventParser()
      var raw = EventParser()
      do throws(ServerError) {
        for piece in pieces {
          raw.append(piece)
          while let event = try raw.next() { events.append(event) }
        }
        for event in events { add(try parser.read(event)) }
      } catch {
        hasFailed = true
      }
    }

    private mutating func add(_ event: StreamEvent) {
      switch event {
      case .change(let change, let cursor, let predecessor):
        changes.append(change)
        kinds.append("change \(cursor) after \(predecessor ?? "")")
      case .beginning(let token): kinds.append("beginning \(token)")
      case .snapshot(let record, let token): kinds.append("snapshot \(record.code ?? "") \(token)")
      case .heartbeat(let token): kinds.append("heartbeat \(token)")
      case .reset(let error, let token): kinds.append("reset \(error.message) \(token)")
      }
    }
  }

  /// In pieces a stream has the same events as at once, and a change that was read is written and read the same.
  private static func checkStream(_ bytes: [UInt8]) {
    let whole = Events([bytes])
    let pieces = Events(Pieces.cut(bytes))
    require(whole.hasFailed == pieces.hasFailed, "in pieces the stream fails as well")
    require(
      whole.events.map(\.data) == pieces.events.map(\.data)
        && whole.events.map(\.name) == pieces.events.map(\.name)
        && whole.events.map(\.id) == pieces.events.map(\.id), "in pieces the events are the same")
    require(whole.kinds == pieces.kinds, "in pieces the kinds are the same")
    require(whole.changes == pieces.changes, "in pieces the changes are the same")
    var json = JSONWriter()
    for change in whole.changes {
      json.change(change) { _ in }
      let text = json.take()
      var parser = ChangeParser()
      guard let read = try? parser.change(text) else {
        return require(false, "a change that was written is read")
      }
      json.change(read) { _ in }
      let again = json.take()
      require(again == text, "a change comes back: \(String(decoding: text, as: UTF8.self))")
    }
  }
}
