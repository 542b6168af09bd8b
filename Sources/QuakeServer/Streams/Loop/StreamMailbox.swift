import QuakeModel
import Synchronization

/// The messages of other threads to the thread of the streams, in their order.
final class StreamMailbox: Sendable {
  enum Message: Sendable {
    /// A client.
    case client(StreamOrder, TakenSocket)
    /// The follow loop begins after a cursor: at the start, or because the history has been replaced.
    case begin(HistoryCursor)
    /// The next page of the history.
    case page(EncodedPage)
    /// A backlog has been read, or could not be read.
    case backlog(Backlog.Key, Backlog.Outcome)
    /// End all streams at the end of an event, within a time.
    case stop(Duration)
  }

  private struct State {
    var messages: [Message] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let event: WakeEvent

  init() throws(WakeEvent.Failure) {
    event = try WakeEvent()
  }

  /// Readable while there are messages.
  var descriptor: Int32 { event.descriptor }

  /// Adds a message; a client that comes after the end of the streams is ended at once.
  func post(_ message: Message) {
    let isFirst: Bool? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.messages.append(message)
      return state.messages.count == 1
    }
    guard let isFirst else {
      if case .client(_, let socket) = message { socket.end() }
      return
    }
    if isFirst { event.raise() }
  }

  /// Takes all messages.
  func take() -> [Message] {
    event.lower()
    return state.withLock { state in
      defer { state.messages = [] }
      return state.messages
    }
  }

  /// Refuses further messages.
  func closeForever() {
    state.withLock { $0.isClosed = true }
    for message in take() {
      if case .client(_, let socket) = message { socket.end() }
    }
  }
}
