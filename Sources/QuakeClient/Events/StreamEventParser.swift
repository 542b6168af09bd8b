internal import QuakeModel

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
    return .change(change, cursor)
  }

  private func heartbeat(_ event: ServerSentEvent, _ problem: inout String) -> StreamEvent? {
    guard let form = form(event, &problem), let token = form.token else { return nil }
    return .heartbeat(token)
  }

  private func reset(_ event: ServerSentEvent, _ problem: inout String) -> StreamEvent? {
    guard let form = form(event, &problem), let token = form.token, let after = form.after else {
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

  private func form(_ event: ServerSentEvent, _ problem: inout String) -> ChangeForm? {
    do throws(JSONReader.Invalid) {
      return try event.data.withUnsafeBytesTyped { bytes throws(JSONReader.Invalid) in
        try ChangeForm(bytes)
      }
    } catch {
      problem = "\(error.problem), at byte \(error.place)"
      return nil
    }
  }
}
