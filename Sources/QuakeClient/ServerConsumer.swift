internal import Basics
package import QuakeModel

/// A named cursor that a server of `quake-serve` keeps for a client with a token for consumers.
///
/// Not safe for concurrent use.
package final class ServerConsumer {
  /// What a server keeps under a name.
  package enum Offer: Sendable {
    /// The server keeps no consumers, or none for this client.
    case none
    /// It keeps the cursor; nil: it would, but has none of this name yet.
    case cursor(HistoryCursor?)
    /// It tells the consumer of earthquakes, and keeps what it owes.
    case alerts
  }

  private let name: String
  private let address: ServerAddress
  private let silence = SilenceLimit()
  /// Tells this client from others that use the name.
  private let session = String(UInt64.random(in: .min ... .max), radix: 16)

  init(_ name: String, at address: ServerAddress) {
    self.name = name
    self.address = address
  }

  /// Whether the server keeps a cursor for this client, and which. It stays with the client that has it.
  package func offer() throws -> Offer {
    let (head, body) = try ask("", [], posts: false)
    switch head.status {
    case 200:
      if ServerAnswer.isTrue("alert", of: body) { return .alerts }
      return .cursor(try cursor(in: body, isNeeded: false))
    // To do without the consumer would be to hand over other changes than those that it was made for.
    case 401 where head.value("www-authenticate")?.contains("invalid_token") == true:
      throw ServerAnswer.error(head, body, from: address)
    // No token, none for consumers, a name that it does not take, or a server of an earlier release.
    case 400, 401, 403, 404, 405: return .none
    default: throw ServerAnswer.error(head, body, from: address)
    }
  }

  /// Takes the cursor over from any other client, or creates it.
  ///
  /// - Parameter start: Where a new one begins.
  /// - Returns: The cursor that the server has.
  package func take(beginningAt start: HistoryCursor) throws -> HistoryCursor {
    let (head, body) = try ask("", [("from", start.eventID)], posts: true)
    guard head.status == 200, let cursor = try cursor(in: body, isNeeded: true) else {
      throw refusal(head, body)
    }
    return cursor
  }

  /// Takes a consumer that is told of earthquakes over from any other client, and begins its stream.
  ///
  /// - Parameter wake: The descriptor that ends a wait when it is readable.
  package func alerts(wake: Int32) throws -> ServerAlerts {
    try ServerAlerts(
      address.url(
        "/v1/consumers/\(PercentEncoding.text(name))/changes",
        [(name: "session", value: session)]), of: address, silence: silence, wake: wake)
  }

  /// Stores that a message and all before it have been handled.
  ///
  /// - Throws: As for a cursor.
  package func acknowledge(message id: String) throws { try acknowledge(id) }

  /// Stores that everything up to a cursor has been handled.
  ///
  /// - Parameter cursor: The cursor; nil: the client is alive, and the cursor stays.
  /// - Throws: `StoreError` of kind `replaced` if another client has taken the cursor, or it was moved or removed;
  ///   `ServerError` of kind `unavailable` while the consumer is paused.
  package func acknowledge(_ cursor: HistoryCursor?) throws {
    try acknowledge(cursor?.eventID)
  }

  private func acknowledge(_ place: String?) throws {
    let (head, body) = try ask("/ack", place.map { [("cursor", $0)] } ?? [], posts: true)
    guard head.status == 200 else { throw refusal(head, body) }
    guard let since = ServerAnswer.member("paused_at", of: body) else { return }
    throw ServerError(
      .unavailable, "consumer \"\(name)\" of server \"\(address.shown)\" is paused since \(since)",
      hint: "\"quake-admin consumers resume\" resumes it.", retryAfter: Self.pause)
  }

  /// How long to wait before the next question whether a pause is over.
  private static let pause = Duration.seconds(10)

  private func refusal(_ head: HTTPHeaders, _ body: [UInt8]) -> any Error {
    guard head.status == 404 || head.status == 409 else {
      return ServerAnswer.error(head, body, from: address)
    }
    return StoreError(
      .replaced, "server \"\(address.shown)\" does not take the cursor of consumer \"\(name)\"",
      detail: ServerAnswer.explanation(body),
      hint:
        "Give each watcher a name of its own; start this one again to go on where the server is.")
  }

  private func cursor(in body: [UInt8], isNeeded: Bool) throws(ServerError) -> HistoryCursor? {
    let text = ServerAnswer.member("cursor", of: body)
    let cursor = text.flatMap { HistoryCursor(eventID: $0) }
    guard cursor != nil || (text == nil && !isNeeded) else {
      throw ServerError(
        .badAnswer, "the server did not say where consumer \"\(name)\" is",
        hint: "Check that --url names a quake-serve.")
    }
    return cursor
  }

  /// Sends a request and reads the whole answer. A signal does not interrupt it: what was handled is to be stored also
  /// when the watcher ends.
  private func ask(
    _ path: String, _ parameters: [(name: String, value: String)], posts: Bool
  ) throws(ServerError) -> (HTTPHeaders, [UInt8]) {
    let own = posts ? [(name: "session", value: session)] : []
    let transfer = try Transfer(
      address.url("/v1/consumers/\(PercentEncoding.text(name))\(path)", parameters + own),
      of: address, accept: "application/json", posts: posts)
    let body = ServerAnswer.body(of: transfer, wake: -1)
    if let failure = transfer.failure { throw failure }
    guard transfer.head.isComplete else {
      throw ServerError(
        .unavailable, "server \"\(address.shown)\" does not answer", hint: "Try again later.")
    }
    return (transfer.head, body)
  }
}
