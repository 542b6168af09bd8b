internal import Basics

/// A request that a server answers with Server-Sent Events, over a connection that stays open.
final class EventTransfer {
  private let transfer: Transfer
  private let address: ServerAddress
  private let silence: SilenceLimit
  private let wake: Int32
  private var parser = EventParser()
  /// When bytes came last, or the wait for them began.
  private var lastBytes = MonotonicClock.now()
  /// When the last event came; nil before the first.
  private var lastEvent: Duration?

  /// The most bytes that are kept while the caller is busy.
  private static let mostKept = 256 << 20

  /// Begins a request and waits for the head of the answer.
  init(
    _ url: String, of address: ServerAddress, silence: SilenceLimit, wake: Int32
  ) throws(ServerError) {
    self.address = address
    self.silence = silence
    self.wake = wake
    transfer = try Transfer(url, of: address, accept: "text/event-stream")
    while !transfer.head.isComplete { try waitForMore() }
  }

  var head: HTTPHeaders { transfer.head }

  /// The error that an answer other than 200 is.
  var refusal: ServerError {
    ServerAnswer.error(head, ServerAnswer.body(of: transfer, wake: wake), from: address)
  }

  /// The next event. Without `waits`, nil if none has come.
  ///
  /// - Throws: `ServerError` if the stream has ended or is not one of events.
  func next(waits: Bool) throws(ServerError) -> ServerSentEvent? {
    // While the caller was busy, nothing could come.
    if waits { lastBytes = MonotonicClock.now() }
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

  /// The intervals of the heartbeats tell how long the server may be silent.
  private func note(_ event: ServerSentEvent) {
    let now = MonotonicClock.now()
    // The first heartbeat of a stream comes at once.
    if event.name == "heartbeat", let lastEvent { silence.learn(now - lastEvent) }
    lastEvent = now
  }

  /// Why no more bytes come.
  var ended: ServerError {
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

  /// Waits for more bytes.
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
