import Foundation
import Synchronization
import TestSupport

/// An HTTP server on 127.0.0.1 that sends what a test's script sends, and records the requests.
/// Each connection has a thread of its own and serves one request.
final class ScriptedServer: Sendable {
  /// A request.
  struct Request: Sendable {
    /// The number of earlier requests.
    var number: Int
    /// Path and query.
    var target: String
    /// By lower-case name.
    var headers: [String: String]
    var body: String
    var arrived: ContinuousClock.Instant
  }

  /// The connection to answer over.
  struct Client: ~Copyable {
    fileprivate let descriptor: Int32

    /// Sends bytes; false if the client has closed the connection.
    @discardableResult
    borrowing func send(_ bytes: [UInt8]) -> Bool {
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }

    @discardableResult
    borrowing func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// An answer with its length; `announced` is the length that is claimed.
    @discardableResult
    borrowing func answer(
      _ status: Int = 200, _ headers: [String] = [], _ body: [UInt8] = [], announced: Int? = nil
    ) -> Bool {
      let lines =
        ["HTTP/1.1 \(status) Whatever", "Content-Length: \(announced ?? body.count)"] + headers
        + ["Connection: close", "", ""]
      return send(Array(lines.joined(separator: "\r\n").utf8) + body)
    }

    @discardableResult
    borrowing func answer(_ status: Int = 200, _ headers: [String] = [], _ body: String) -> Bool {
      answer(status, headers, Array(body.utf8))
    }

    /// Sends some bytes again and again, until the client closes the connection.
    ///
    /// - Parameter interval: Milliseconds between two of them.
    borrowing func drip(_ bytes: [UInt8], every interval: Int32) {
      var other = pollfd(fd: descriptor, events: 0, revents: 0)
      while send(bytes), poll(&other, 1, interval) == 0 {}
    }

    /// Sends nothing until the client closes the connection or the server stops.
    borrowing func hold() {
      var byte: UInt8 = 0
      while recv(descriptor, &byte, 1, 0) > 0 {}
    }
  }

  private struct State {
    var requests: [Request] = []
    var connections: Set<Int32> = []
    var isStopped = false
  }

  let port: Int
  private let listener: Int32
  private let state = Mutex(State())
  private let script: @Sendable (Request, borrowing Client) -> Void

  /// A server that answers with `script`.
  init(_ script: @escaping @Sendable (Request, borrowing Client) -> Void) throws {
    self.script = script
    (listener, port) = try LocalSocket.listen()
    Thread.detachNewThread { [weak self, listener] in
      // Closed here and not by `stop`: until then no other server gets this descriptor.
      defer { close(listener) }
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        guard let server = self else {
          close(descriptor)
          return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        server.begin(descriptor)
      }
    }
  }

  /// A server with the same answer to all requests.
  convenience init(_ status: Int = 200, _ headers: [String] = [], body: [UInt8]) throws {
    try self.init { _, client in client.answer(status, headers, body) }
  }

  deinit { stop() }

  var url: String { "http://127.0.0.1:\(port)/all_day.geojson" }

  /// The requests so far.
  var requests: [Request] { state.withLock { $0.requests } }

  /// Ends all connections.
  func stop() {
    state.withLock { state in
      guard !state.isStopped else { return }
      state.isStopped = true
      shutdown(listener, Int32(SHUT_RDWR))
      for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  private func begin(_ descriptor: Int32) {
    let isStopped = state.withLock { state in
      if !state.isStopped { state.connections.insert(descriptor) }
      return state.isStopped
    }
    guard !isStopped else {
      close(descriptor)
      return
    }
    Thread.detachNewThread { [self] in
      if let request = read(descriptor) { script(request, Client(descriptor: descriptor)) }
      shutdown(descriptor, Int32(SHUT_WR))
      // Closing with unread input would reset the connection, and the client lose the answer.
      Client(descriptor: descriptor).hold()
      _ = state.withLock { $0.connections.remove(descriptor) }
      close(descriptor)
    }
  }

  private func read(_ descriptor: Int32) -> Request? {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    func receive() -> Bool {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return false }
      received += buffer[..<count]
      return true
    }
    func end() -> Int? {
      received.indices.first { received[$0...].starts(with: [13, 10, 13, 10]) }.map { $0 + 4 }
    }
    while end() == nil { guard receive() else { return nil } }
    let start = end() ?? 0
    let lines = String(decoding: received[..<start], as: UTF8.self).components(separatedBy: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    while received.count < start + length { guard receive() else { return nil } }
    let body = String(decoding: received[start...].prefix(length), as: UTF8.self)
    let target = lines[0].split(separator: " ").dropFirst().first.map(String.init) ?? ""
    return state.withLock { state in
      let request = Request(
        number: state.requests.count, target: target, headers: headers, body: body,
        arrived: .now)
      state.requests.append(request)
      return request
    }
  }
}

/// A flag that one thread raises and another waits for.
final class Flag: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func raise() { semaphore.signal() }

  /// Waits until it has been raised; consumes it.
  func wait() throws {
    let patience = DispatchTime.now() + .seconds(Int(ToolProcess.patience.components.seconds))
    guard semaphore.wait(timeout: patience) == .success else {
      throw ToolProcess.Failure(description: "a flag was never raised")
    }
  }
}
