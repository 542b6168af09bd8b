import Basics
import Glibc
import Synchronization

final class ConnectionRecord: Sendable {
  struct State {
    /// Until when the client must have sent a whole request; nil while one is answered.
    var deadline: Duration?
    var hasSentRequest = false
    /// Whether the first line of a request has arrived, and not all of the request.
    var isWithinRequest = false
    var isOpen = true
  }

  let descriptor: Int32
  let address: String
  let state: Mutex<State>

  init(descriptor: Int32, address: String, requestTimeout: Duration) {
    self.descriptor = descriptor
    self.address = address
    state = Mutex(State(deadline: MonotonicClock.now() + requestTimeout))
  }

  /// Whether a request is being answered.
  var isBusy: Bool { state.withLock { $0.isOpen && $0.deadline == nil } }

  /// The first line of a request has arrived.
  func requestBegins() {
    state.withLock { $0.isWithinRequest = true }
  }

  /// A request has arrived whole, and is answered.
  func requestIsComplete() {
    state.withLock { state in
      state.deadline = nil
      state.hasSentRequest = true
      state.isWithinRequest = false
    }
  }

  /// An answer has been sent; the next request may take this long.
  func answerIsSent(requestTimeout: Duration) {
    state.withLock { state in
      state.deadline = MonotonicClock.now() + requestTimeout
      state.isWithinRequest = false
    }
  }

  /// Ends the connection if its request is late. A client that has begun one, or has never sent one, is told
  /// why.
  func endIfLate(at now: Duration) {
    // While the lock is held, the socket stays open, so that its number cannot belong to another connection.
    state.withLock { state in
      guard state.isOpen, let deadline = state.deadline, now >= deadline else { return }
      state.deadline = nil
      if state.isWithinRequest || !state.hasSentRequest {
        answer(HTTPError(408, "The request did not arrive whole in time."))
      }
      shutdown(descriptor, Int32(SHUT_RDWR))
    }
  }

  /// Ends the connection with an answer that does not pass through the HTTP library.
  func refuse(_ error: HTTPError) {
    state.withLock { state in
      guard state.isOpen else { return }
      answer(error)
      state.deadline = nil
      shutdown(descriptor, Int32(SHUT_RDWR))
      // The rest of the request is dropped: a socket that is closed with unread bytes resets the connection, and the
      // client may lose the answer.
      recv(descriptor, nil, 1 << 20, Int32(MSG_DONTWAIT | MSG_TRUNC))
    }
  }

  /// Sends an answer, with the lock held.
  private func answer(_ error: HTTPError) {
    let text = String(decoding: ErrorForm.problemText(error, instance: nil), as: UTF8.self)
    var answer = """
      HTTP/1.1 \(error.status) \(error.title)\r\nConnection: close\r\n\
      Content-Type: application/problem+json\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)
      """
    answer.withUTF8 {
      _ = send(
        descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
  }

  /// The socket is about to be closed.
  func isClosing() {
    state.withLock { state in
      state.isOpen = false
      state.deadline = nil
    }
  }
}
