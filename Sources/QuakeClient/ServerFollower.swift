package import Basics
package import QuakeModel

/// Follows the history that a server of `quake-serve` has: hands over the changes after a cursor in commit
/// order, some at a time, and waits for new ones. It is to a server what `HistoryFollower` is to a database.
///
/// It asks again by itself only after `pause`: its owner decides what to do after a lost connection, and calls
/// `resume`. Not safe for concurrent use.
package final class ServerFollower {
  package enum WaitOutcome: Sendable {
    /// There may be new changes.
    case ready
    case timedOut
    case woken
  }

  /// A parameter of the stream: a filter by its name and value.
  package typealias Parameter = (name: String, value: String)

  private enum Place: Equatable {
    /// Its next event is the first one after the cursor.
    case after(HistoryCursor)
    /// The list as of the token comes next.
    case snapshot(ChangeToken?)
  }

  private let address: ServerAddress
  private let filter: [Parameter]
  private let wakeDescriptor: () -> Int32
  private var wake: Int32 { wakeDescriptor() }
  private let silence = SilenceLimit()
  private var stream: ServerStream?
  private var place: Place?
  /// An event that was received and not handed over.
  private var pending: StreamEvent?
  /// Why the stream ended, if the changes before that were handed over.
  private var failure: ServerError?
  private var isReadingSnapshot = false
  /// Called before the stream is opened at a cursor, so that its owner can refuse that.
  package var willOpen: (() throws -> Void)?

  /// How far it has come: everything up to there has been handed over. Nil before `begin`.
  package private(set) var cursor: HistoryCursor?
  /// Whether the open stream has reached the end of the history since it was opened.
  package private(set) var hasReachedEnd = false

  /// The address of the server, without user and password.
  package var server: String { address.shown }

  /// The most changes that are handed over at a time.
  private static let pageSize = 500

  /// A follower without a connection.
  ///
  /// - Parameters:
  ///   - filter: The filters of the stream; the server leaves out changes that do not pass.
  ///   - wake: The descriptor that becomes readable when a wait is to end.
  package init(_ address: ServerAddress, filter: [Parameter], wake: @escaping () -> Int32) {
    self.address = address
    self.filter = filter
    wakeDescriptor = wake
  }

  /// A consumer that the server may keep for its reader.
  package func consumer(named name: String) -> ServerConsumer {
    ServerConsumer(name, at: address)
  }

  // MARK: - Beginning

  /// Begins after `cursor`.
  ///
  /// - Throws: `StoreError` of kind `token` if the cursor is not one of this history, `ServerError`.
  package func begin(after cursor: HistoryCursor) throws {
    if stream == nil || place != .after(cursor) { try open(after: cursor) }
    self.cursor = cursor
  }

  /// Continues at its cursor with another connection.
  ///
  /// - Throws: `StoreError` of kind `token` if the server's history is not the one that was read before.
  package func resume() throws {
    guard let cursor else { return }
    try open(after: cursor)
  }

  /// The cursor at which the history ends now.
  package func newestCursor() throws -> HistoryCursor {
    for _ in 0..<Self.attempts {
      try open([])
      let event = try next()
      switch event {
      case .heartbeat(let token):
        move(to: HistoryCursor(token: token))
        hasReachedEnd = true
        return HistoryCursor(token: token)
      case .change(let change, _, _):
        // The stream has begun in the middle of a transaction.
        guard change.position > 0 else { continue }
        let cursor = HistoryCursor(token: change.transaction.token, changes: change.position)
        move(to: cursor)
        pending = event
        return cursor
      case .snapshot, .beginning, .reset: throw Self.outOfPlace
      }
    }
    throw ServerError(
      .unavailable, "the server does not say where its history ends", hint: "Try again.")
  }

  private static let attempts = 10

  /// The token of the last transaction committed by a time, by the clock of the server's database.
  package func token(at time: Timestamp) throws -> ChangeToken { try token(of: "\(time)") }

  /// The token before the oldest change that the server still holds.
  package func oldestToken() throws -> ChangeToken { try token(of: "oldest") }

  /// The token of a point of the history.
  private func token(of point: String) throws -> ChangeToken {
    let parameters = [(name: "from", value: point), (name: "to", value: point)]
    let transfer = try Transfer(
      address.url("/v1/diff", parameters), of: address, accept: "application/json")
    let body = ServerAnswer.body(of: transfer, wake: wake)
    if let failure = transfer.failure { throw failure }
    if transfer.head.status == 410, let text = ServerAnswer.explanation(body) {
      throw StoreError(expired: text)
    }
    guard transfer.head.status == 200 else {
      throw transfer.head.isComplete
        ? ServerAnswer.error(transfer.head, body, from: address)
        : ServerError(
          .unavailable, "server \"\(address.shown)\" does not answer", hint: "Try again later.")
    }
    guard let token = ServerAnswer.member("from", of: body).flatMap({ ChangeToken($0) }) else {
      throw ServerError(
        .badAnswer, "the server did not say which token a point of its history has",
        hint: "Check that --url names a quake-serve.")
    }
    return token
  }

  /// Makes sure that a token is one of the server's history.
  ///
  /// - Throws: `StoreError` of kind `token` if it is not, or no longer.
  package func verify(_ token: ChangeToken) throws {
    let probe = try ServerStream(
      address, [(name: "after", value: "\(token)"), (name: "limit", value: "1")],
      silence: silence, wake: wake)
    if case .reset(let error, _) = try probe.next(waits: true) { throw error }
  }

  // MARK: - The connection

  private func open(_ parameters: [Parameter]) throws(ServerError) {
    disconnect()
    stream = try ServerStream(address, parameters + filter, silence: silence, wake: wake)
  }

  /// Opens the stream after a cursor, and waits for its first event, which tells whether that is possible.
  private func open(after cursor: HistoryCursor) throws {
    try willOpen?()
    try open([(name: "after", value: cursor.eventID)])
    place = .after(cursor)
    let first = try next()
    if case .reset(let error, let token) = first {
      place = .snapshot(token)
      throw error
    }
    pending = first
  }

  /// Forgets the connection, but not the cursor.
  package func disconnect() {
    stream = nil
    place = nil
    pending = nil
    failure = nil
    hasReachedEnd = false
  }

  /// Closes the stream, or keeps the rest of a list, while the owner is busy, perhaps within a call of
  /// `readPage` or `readSnapshot`.
  package func pause() {
    // The list cannot be continued over another connection.
    if isReadingSnapshot { stream?.keepRest() } else { stream = nil }
  }

  private func move(to cursor: HistoryCursor) {
    place = .after(cursor)
  }

  /// The next event of the open stream.
  private func next() throws(ServerError) -> StreamEvent {
    if let pending {
      self.pending = nil
      return pending
    }
    guard let event = try stream?.next(waits: true) else {
      throw ServerError(.unavailable, "there is no connection to the server")
    }
    return event
  }

  // MARK: - Reading

  /// Reads the present list of events.
  ///
  /// - Parameters:
  ///   - begin: Gets the token of the list first: the changes after it can be followed without a gap or repeat.
  ///   - body: Gets each event, newest origin time first.
  package func readSnapshot(
    begin: (ChangeToken) throws -> Void, _ body: (EventRecord) throws -> Void
  ) throws {
    var token: ChangeToken?
    if stream != nil, case .snapshot(let announced) = place {
      token = announced
      if let token { try begin(token) }
    } else {
      try open([(name: "snapshot", value: "1")])
      place = .snapshot(nil)
    }
    isReadingSnapshot = true
    defer { isReadingSnapshot = false }
    func check(_ other: ChangeToken) throws {
      guard token != other else { return }
      guard token == nil else { throw Self.outOfPlace }
      token = other
      try begin(other)
    }
    while true {
      switch try next() {
      case .beginning(let of):
        try check(of)
      case .snapshot(let record, let of):
        try check(of)
        try body(record)
      case .heartbeat(let of):
        try check(of)
        move(to: HistoryCursor(token: of))
        hasReachedEnd = true
        return
      case .change, .reset: throw Self.outOfPlace
      }
    }
  }

  /// Hands over the changes that have come, some at a time.
  ///
  /// - Parameter body: Gets each change, in commit order. When it throws, the history counts as read up to the
  ///   change before.
  /// - Returns: Whether that was all that has come.
  /// - Throws: `StoreError` of kind `token` if the next changes are not available, `ServerError`.
  package func readPage(_ body: (Change) throws -> Void) throws -> Bool {
    if let failure {
      self.failure = nil
      throw failure
    }
    for count in 0..<Self.pageSize {
      let event: StreamEvent?
      do {
        if stream == nil { try resume() }
        event = try pending ?? stream?.next(waits: false)
      } catch let error as ServerError where error.isTransient && count > 0 {
        // The changes of this page are delivered before the error.
        failure = error
        return false
      }
      pending = nil
      switch event {
      case nil: return true
      case .change(let change, let after, let predecessor):
        try check(change)
        if let gap = gap(before: change, predecessor) {
          // The changes of this page are delivered before the error.
          guard count == 0 else {
            pending = event
            return false
          }
          throw gap.error(because: Self.causeOfGaps)
        }
        pending = event
        try body(change)
        pending = nil
        cursor = after
        move(to: after)
      case .heartbeat(let token):
        // A server that knows less than this reader has not come to the end.
        guard let before = cursor, token.number >= before.token.number else { continue }
        if let gap = gap(before: token) {
          guard count == 0 else {
            pending = event
            return false
          }
          throw gap.error(because: Self.causeOfGaps)
        }
        cursor = HistoryCursor(token: token)
        move(to: HistoryCursor(token: token))
        hasReachedEnd = true
        return true
      case .reset(let error, let token):
        // The changes of this page are delivered before the error.
        if count > 0 {
          pending = event
          return false
        }
        place = .snapshot(token)
        throw error
      case .snapshot, .beginning: throw Self.outOfPlace
      }
    }
    return false
  }

  /// Makes sure that a change is the next one, so that a fault of the server or of a proxy cannot lose any.
  private func check(_ change: Change) throws(ServerError) {
    let token = change.transaction.token
    guard let cursor else { return }
    let isNext: Bool
    if token == cursor.token {
      isNext =
        cursor.changes > 0
        && (filter.isEmpty
          ? change.position == cursor.changes : change.position >= cursor.changes)
    } else {
      isNext =
        token.number > cursor.token.number && (change.position == 0 || !filter.isEmpty)
    }
    guard isNext else {
      throw ServerError(
        .badAnswer, "the server sent a change out of order",
        detail: "Change \(change.position) of transaction \(token) came after cursor \(cursor).",
        hint: "Please report this.")
    }
  }

  /// What is missing between the cursor and a change. With a filter, what does not pass it is missing as well.
  private func gap(before change: Change, _ predecessor: String?) -> HistoryGap? {
    let next = change.transaction.token
    guard filter.isEmpty, let cursor, cursor.token != next else { return nil }
    guard cursor.changes == 0 else {
      return HistoryGap(in: cursor.token, changes: cursor.changes)
    }
    return HistoryGap(after: cursor.token, next: next, predecessor: predecessor)
  }

  /// What is missing between the cursor and the end of the history, of which the server says that all has been sent.
  private func gap(before end: ChangeToken) -> HistoryGap? {
    guard filter.isEmpty, let cursor, cursor != HistoryCursor(token: end) else { return nil }
    return cursor.changes == 0
      ? HistoryGap(after: cursor.token, end: end)
      : HistoryGap(in: cursor.token, changes: cursor.changes)
  }

  private static let causeOfGaps = """
    The server, or a proxy in front of it, left them out, or its database lacks them, which "quake-query verify" shows.
    """

  private static let outOfPlace = ServerError(
    .badAnswer, "the server sent an event out of place",
    hint: "Check that --url names a quake-serve. If it does, please report this.")

  /// Waits until there may be new changes, at most until `deadline`.
  ///
  /// - Throws: `ServerError` if the server has sent nothing for too long.
  package func wait(until deadline: Deadline) throws -> WaitOutcome {
    guard failure == nil, pending == nil, let stream else { return .ready }
    switch try stream.wait(until: deadline) {
    case .progress, .ended: return .ready
    case .timedOut: return .timedOut
    case .woken: return .woken
    }
  }
}

extension StoreError {
  /// The error about an expired token that a server has described in sentences: message, detail and hint.
  fileprivate init(expired text: String) {
    var sentences = text.split(separator: ". ").map(String.init)
    for index in sentences.indices where sentences[index].last != "." { sentences[index] += "." }
    let first = (sentences.isEmpty ? text : sentences.removeFirst()).dropLast()
    let hint = sentences.popLast()
    self.init(
      .token(.expired), first.prefix(1).lowercased() + first.dropFirst(),
      detail: sentences.isEmpty ? nil : sentences.joined(separator: " "), hint: hint)
  }
}
