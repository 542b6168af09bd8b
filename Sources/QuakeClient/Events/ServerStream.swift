internal import Basics
internal import Glibc
internal import QuakeModel

/// A stream of changes that the server sends over one connection.
final class ServerStream {
  private let transfer: Transfer
  private let address: ServerAddress
  private let silence: SilenceLimit
  private let wake: Int32
  private var parser = StreamEventParser()
  private var lastBytes = MonotonicClock.now()
  /// When the last event came; nil before the first.
  private var lastEvent: Duration?

  /// The most bytes that are kept while the caller is busy.
  private static let mostKept = 256 << 20

  /// Begins a stream and waits for the head of the answer.
  init(
    _ address: ServerAddress, _ parameters: [(name: String, value: String)], silence: SilenceLimit,
    wake: Int32
  ) throws(ServerError) {
    self.address = address
    self.silence = silence
    self.wake = wake
    transfer = try Transfer(
      address.url("/v1/changes", parameters), of: address, accept: "text/event-stream")
    while !transfer.head.isComplete { try waitForMore() }
    guard transfer.head.status == 200 else {
      throw ServerAnswer.error(
        transfer.head, ServerAnswer.body(of: transfer, wake: wake), from: address)
    }
    guard transfer.head.contentType == "text/event-stream" else {
      throw ServerError(
        .wrongAddress, "server \"\(address.shown)\" does not answer with a stream of changes",
        detail: "It sent \(transfer.head.contentType.prefix(100)).",
        hint: "Check that --url names a quake-serve.")
    }
  }

  /// The next event. Without `waits`, nil if none has come.
  ///
  /// - Throws: `ServerError` if the stream has ended or is not one of changes.
  func next(waits: Bool) throws(ServerError) -> StreamEvent? {
    var hasReceived = false
    while true {
      if let event = try parser.next() {
        note(event)
        return event
      }
      let bytes = transfer.take()
      if !bytes.isEmpty {
        lastBytes = MonotonicClock.now()
        parser.append(bytes)
      } else if waits {
        try waitForMore()
      } else if !hasReceived {
        hasReceived = true
        transfer.receive()
      } else if transfer.hasEnded {
        throw ended
      } else {
        return nil
      }
    }
  }

  private func note(_ event: StreamEvent) {
    let now = MonotonicClock.now()
    // The first heartbeat of a stream comes at once.
    if case .heartbeat = event, let lastEvent { silence.learn(now - lastEvent) }
    lastEvent = now
  }

  private var ended: ServerError {
    transfer.failure
      ?? ServerError(
        .unavailable, "server \"\(address.shown)\" has ended the stream",
        hint: "Check that quake-serve runs there.")
  }

  private func waitForMore() throws(ServerError) {
    switch try wait(until: nil) {
    case .progress, .timedOut: break
    case .ended: throw ended
    case .woken: throw ServerError(.interrupted, "interrupted")
    }
  }

  /// Waits for more of the stream.
  ///
  /// - Throws: `ServerError` if the server has sent nothing for too long.
  func wait(until deadline: Deadline?) throws(ServerError) -> Transfer.Outcome {
    let limit = silence.duration
    let latest = Deadline(after: lastBytes + limit - MonotonicClock.now())
    let outcome = transfer.wait(until: min(deadline ?? latest, latest), wake: wake)
    if outcome == .timedOut, latest.hasPassed {
      silence.extend()
      throw ServerError(
        .silent,
        "server \"\(address.shown)\" has sent nothing for \(limit.components.seconds) s",
        hint: "Check that quake-serve runs there and reaches its database, and the network.")
    }
    return outcome
  }

  /// Receives and keeps bytes while the caller is busy with an event, because the server drops a client that
  /// does not read.
  func keepRest() {
    var kept = 0
    while kept < Self.mostKept {
      let outcome = transfer.wait(until: Deadline(after: .seconds(1)), wake: -1)
      let bytes = transfer.take()
      kept += bytes.count
      parser.append(bytes)
      lastBytes = MonotonicClock.now()
      guard outcome == .progress else { return }
    }
  }
}

/// Splits the bytes of a stream into Server-Sent Events, however they are cut into pieces.
///
/// An event counts when the empty line after it has come: what a lost connection leaves is dropped.
struct EventParser {
  private var bytes: [UInt8] = []
  /// The beginning of the next line, and how far its end has been looked for.
  private var line = 0
  private var searched = 0
  private var event = ServerSentEvent()

  /// The longest line, and the longest event, in bytes. A change has two events of half a megabyte of text at
  /// most, each byte of which takes up to six.
  static let longest = 16 << 20

  /// Adds bytes of the stream.
  mutating func append(_ more: [UInt8]) {
    if line > 0 {
      bytes.removeFirst(line)
      searched -= line
      line = 0
    }
    if bytes.isEmpty { bytes = more } else { bytes.append(contentsOf: more) }
  }

  /// The next complete event; nil if more bytes have to come first.
  mutating func next() throws(ServerError) -> ServerSentEvent? {
    while let end = endOfLine() {
      let range = line..<(end > line && bytes[end - 1] == 0x0D ? end - 1 : end)
      line = end + 1
      searched = line
      guard range.isEmpty else {
        try take(range)
        continue
      }
      let complete = event
      event = ServerSentEvent()
      // Comments alone, or an id without data, are no event.
      if !complete.data.isEmpty { return complete }
    }
    guard bytes.count - line <= Self.longest else { throw Self.tooLong }
    return nil
  }

  private mutating func endOfLine() -> Int? {
    let end = bytes.withUnsafeBytes { all -> Int? in
      guard let start = all.baseAddress, searched < all.count,
        let found = memchr(start + searched, 0x0A, all.count - searched)
      else { return nil }
      return UnsafeRawPointer(found) - start
    }
    if end == nil { searched = bytes.count }
    return end
  }

  private mutating func take(_ range: Range<Int>) throws(ServerError) {
    let text = bytes[range]
    let name = text.prefix { $0 != 0x3A }
    var value = text[name.endIndex...].dropFirst()
    if value.first == 0x20 { value = value.dropFirst() }
    // A line that begins with a colon is a comment, with which proxies keep connections open.
    if name.elementsEqual("data".utf8) {
      if !event.data.isEmpty { event.data.append(0x0A) }
      guard event.data.count + value.count <= Self.longest else { throw Self.tooLong }
      event.data.append(contentsOf: value)
    } else if name.elementsEqual("event".utf8) {
      event.name = String(decoding: value.prefix(100), as: UTF8.self)
    } else if name.elementsEqual("id".utf8) {
      event.id = String(decoding: value.prefix(100), as: UTF8.self)
    } else if name.elementsEqual("predecessor".utf8) {
      event.predecessor = String(decoding: value.prefix(100), as: UTF8.self)
    }
  }

  private static let tooLong = ServerError(
    .badAnswer, "the server sent an event of more than \(longest >> 20) MB",
    hint: "Check that --url names a quake-serve.")
}

/// A Server-Sent Event.
struct ServerSentEvent {
  /// The name; empty for a change.
  var name = ""
  /// The id of this event; nil if it has none.
  var id: String?
  /// The token of the transaction before that of this change, if it is the first of its transaction. Servers before
  /// this field name none.
  var predecessor: String?
  var data: [UInt8] = []
}

/// An event of the stream of changes that the server sends.
enum StreamEvent {
  /// A change, the cursor after it, and the transaction before that of the change, if the server names it.
  case change(Change, HistoryCursor, predecessor: String?)
  /// The list that was asked for begins, as of the token.
  case beginning(ChangeToken)
  /// An event of the present list.
  case snapshot(EventRecord, ChangeToken)
  /// Everything up to the token has been sent.
  case heartbeat(ChangeToken)
  /// The history cannot be continued for this reason. A snapshot as of the token follows.
  case reset(StoreError, ChangeToken)
}

/// Reads the events of a stream of changes.
struct StreamEventParser {
  private var events = EventParser()
  private var changes = ChangeParser()

  /// Adds bytes of the stream.
  mutating func append(_ bytes: [UInt8]) { events.append(bytes) }

  /// The next complete event; nil if more bytes have to come first.
  mutating func next() throws(ServerError) -> StreamEvent? {
    guard let event = try events.next() else { return nil }
    var problem = "it lacks a member"
    let parsed: StreamEvent?
    switch event.name {
    case "", "message": parsed = change(event, &problem)
    case "snapshot":
      parsed = changes.snapshot(event.data, problem: &problem).map {
        .snapshot($0.record, $0.token)
      }
    case "heartbeat": parsed = heartbeat(event, &problem)
    case "reset": parsed = reset(event, &problem)
    default:
      throw ServerError(
        .badAnswer, "the server sent an event of an unknown kind, \"\(event.name)\"",
        hint: "Check that --url names a quake-serve. If it does, use a quake-watch of its version.")
    }
    if let parsed { return parsed }
    throw ServerError(
      .badAnswer,
      "the server sent a \(event.name.isEmpty ? "change" : event.name) that is not valid",
      detail: "The JSON: \(problem).",
      hint: "Check that --url names a quake-serve. If it does, use a quake-watch of its version.")
  }

  private mutating func change(_ event: ServerSentEvent, _ problem: inout String) -> StreamEvent? {
    guard let change = changes.change(event.data, problem: &problem) else { return nil }
    guard let cursor = event.id.flatMap({ HistoryCursor(eventID: $0) }),
      cursor.token == change.transaction.token,
      cursor.changes == 0 || cursor.changes == change.position + 1
    else {
      problem = "its id is not the cursor after it"
      return nil
    }
    return .change(change, cursor, predecessor: event.predecessor)
  }

  private func heartbeat(_ event: ServerSentEvent, _ problem: inout String) -> StreamEvent? {
    guard let form = changes.form(event.data, problem: &problem), let token = form.token else {
      return nil
    }
    return .heartbeat(token)
  }

  private func reset(_ event: ServerSentEvent, _ problem: inout String) -> StreamEvent? {
    guard let form = changes.form(event.data, problem: &problem), let token = form.token,
      let after = form.after
    else {
      return nil
    }
    if form.reason == "snapshot" { return .beginning(token) }
    guard let reason = StoreError.TokenProblem(rawValue: form.reason)
    else { return nil }
    // Servers before this member explain nothing.
    let message = form.message ?? "the history after \(after) is not available (\(form.reason))"
    return .reset(
      StoreError(.token(reason), message, detail: form.detail, hint: form.hint), token)
  }
}
