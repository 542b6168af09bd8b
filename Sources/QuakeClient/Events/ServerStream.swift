internal import Basics
internal import QuakeModel

/// A stream of changes that the server sends over one connection.
final class ServerStream {
  private let events: EventTransfer
  private var parser = StreamEventParser()

  /// Begins a stream and waits for the head of the answer.
  init(
    _ address: ServerAddress, _ parameters: [(name: String, value: String)], silence: SilenceLimit,
    wake: Int32
  ) throws(ServerError) {
    events = try EventTransfer(
      address.url("/v1/changes", parameters), of: address, silence: silence, wake: wake)
    guard events.head.status == 200 else { throw events.refusal }
    guard events.head.contentType == "text/event-stream" else {
      throw ServerError(
        .wrongAddress, "server \"\(address.shown)\" does not answer with a stream of changes",
        detail: "It sent \(events.head.contentType.prefix(100)).",
        hint: "Check that --url names a quake-serve.")
    }
  }

  /// The next event. Without `waits`, nil if none has come.
  ///
  /// - Throws: `ServerError` if the stream has ended or is not one of changes.
  func next(waits: Bool) throws(ServerError) -> StreamEvent? {
    guard let event = try events.next(waits: waits) else { return nil }
    return try parser.read(event)
  }

  /// Waits for more of the stream.
  ///
  /// - Throws: `ServerError` if the server has sent nothing for too long.
  func wait(until deadline: Deadline) throws(ServerError) -> Transfer.Outcome {
    try events.wait(until: deadline)
  }

  /// Receives and keeps bytes while the caller is busy with an event, because the server drops a client that
  /// does not read.
  func keepRest() { events.keepRest() }
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

struct StreamEventParser {
  private var changes = ChangeParser()

  mutating func read(_ event: ServerSentEvent) throws(ServerError) -> StreamEvent {
    do throws(InvalidJSON) {
      switch event.name {
      case "", "message": return try change(event)
      case "snapshot":
        let snapshot = try changes.snapshot(event.data)
        return .snapshot(snapshot.record, snapshot.token)
      case "heartbeat":
        guard let token = try changes.form(event.data).token else { throw Self.incomplete }
        return .heartbeat(token)
      case "reset": return try reset(event)
      default: break
      }
    } catch {
      throw ServerError(
        .badAnswer,
        "the server sent a \(event.name.isEmpty ? "change" : event.name) that is not valid",
        detail: "The JSON: \(error.problem).", hint: Self.hint)
    }
    throw ServerError(
      .badAnswer, "the server sent an event of an unknown kind, \"\(event.name)\"",
      hint: Self.hint)
  }

  private static let incomplete = InvalidJSON("it lacks a member")
  private static let hint =
    "Check that --url names a quake-serve. If it does, use a quake-watch of its version."

  private mutating func change(_ event: ServerSentEvent) throws(InvalidJSON) -> StreamEvent {
    let change = try changes.change(event.data)
    guard let cursor = event.id.flatMap({ HistoryCursor(eventID: $0) }),
      cursor.token == change.transaction.token,
      cursor.changes == 0 || cursor.changes == change.position + 1
    else { throw InvalidJSON("its id is not the cursor after it") }
    return .change(change, cursor, predecessor: event.predecessor)
  }

  private func reset(_ event: ServerSentEvent) throws(InvalidJSON) -> StreamEvent {
    let form = try changes.form(event.data)
    guard let token = form.token, let after = form.after else { throw Self.incomplete }
    if form.reason == "snapshot" { return .beginning(token) }
    guard let reason = StoreError.TokenProblem(rawValue: form.reason) else {
      throw Self.incomplete
    }
    // Servers before this member explain nothing.
    let message = form.message ?? "the history after \(after) is not available (\(form.reason))"
    return .reset(
      StoreError(.token(reason), message, detail: form.detail, hint: form.hint), token)
  }
}
