import Foundation
import Glibc
import QuakeFeed
import Synchronization
import TestSupport

/// An HTTP server on the loopback interface that sends what a test gives it, valid or not.
///
/// It serves one connection at a time on a thread of its own, and records the requests.
final class TestServer: Sendable {
  /// The answer to one request, and what happens to the connection afterwards.
  struct Answer {
    enum End {
      /// It is closed.
      case close
      /// It stays open for another request.
      case keep
      /// It stays open, and nothing more is sent.
      case hold
      /// A space is sent every few milliseconds, until the client closes the connection.
      case drip
    }

    var bytes: [UInt8]
    var end: End

    init(_ bytes: [UInt8], end: End = .close) {
      self.bytes = bytes
      self.end = end
    }

    /// A response with the given headers and a `Content-Length`: of the body, unless `length` is
    /// given.
    init(
      _ status: String, headers: [String] = [], body: [UInt8] = [], length: Int? = nil,
      end: End = .close
    ) {
      let lines = ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(length ?? body.count)"]
      self.init(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body, end: end)
    }
  }

  let port: Int
  private let listener: Int32
  private let noted = Mutex<[String]>([])
  private let connections = Mutex<[Int32]>([])

  /// - Parameter address: Where it listens; 0 is every address of this machine.
  init(
    address: UInt32 = LocalSocket.loopback,
    _ answer: @escaping @Sendable (_ request: String) -> Answer
  )
    throws
  {
    signal(SIGPIPE, SIG_IGN)
    (listener, port) = try LocalSocket.listen(host: address)
    Thread.detachNewThread { [self] in
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        serve(connection, answer)
      }
      // Not in `stop`: another server could get the descriptor's number before the next `accept`.
      close(listener)
    }
  }

  /// Ends the thread and closes the connections that are held open.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    connections.withLock { connections in
      for connection in connections {
        shutdown(connection, Int32(SHUT_RDWR))
        close(connection)
      }
      connections = []
    }
  }

  /// The requests so far, as received.
  var requests: [String] { noted.withLock { $0 } }

  func url(_ path: String = "/feed.geojson") -> String { "http://127.0.0.1:\(port)\(path)" }

  private func serve(_ connection: Int32, _ answer: (String) -> Answer) {
    while let request = Self.readRequest(connection) {
      noted.withLock { $0.append(request) }
      let answer = answer(request)
      var sent = 0
      while sent < answer.bytes.count {
        let count = answer.bytes.withUnsafeBytes { bytes in
          write(connection, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
        }
        if count <= 0 { break }
        sent += count
      }
      if answer.end == .hold {
        connections.withLock { $0.append(connection) }
        return
      }
      if answer.end == .drip {
        // Send a byte at a time until the client closes the connection.
        var client = pollfd(fd: connection, events: 0, revents: 0)
        while write(connection, " ", 1) == 1, poll(&client, 1, 5) == 0 {}
        break
      }
      if answer.end == .close { break }
    }
    close(connection)
  }

  private static func readRequest(_ connection: Int32) -> String? {
    var request: [UInt8] = []
    var byte: UInt8 = 0
    while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard read(connection, &byte, 1) == 1 else { return nil }
      request.append(byte)
    }
    return String(decoding: request, as: UTF8.self)
  }
}

extension FeedClient {
  /// Requests a feed at a URL given as text.
  func open(
    url: String, validators: FeedValidators? = nil
  ) throws(FeedError) -> FeedResponse {
    try open(url: FeedURL(url), validators: validators)
  }
}
