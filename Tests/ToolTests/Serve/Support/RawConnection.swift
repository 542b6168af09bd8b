import Foundation
import TestSupport
import Testing

/// A connection to an HTTP server that sends exactly the bytes that a test wants.
final class RawConnection {
  struct Answer {
    var status: Int
    /// Names in small letters.
    var headers: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(body)) }

    /// The members of the JSON object that it has.
    func object() throws -> [String: Any] { try #require(try json() as? [String: Any]) }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: Int32
  private var received: [UInt8] = []

  convenience init(port: Int, patience: Duration = ToolProcess.patience) throws {
    guard let descriptor = LocalSocket.connect(toPort: port) else {
      throw Failure(description: "could not connect to port \(port)")
    }
    self.init(descriptor, patience: patience)
  }

  /// Takes over a socket, and closes it in the end.
  init(_ descriptor: Int32, patience: Duration = ToolProcess.patience) {
    self.descriptor = descriptor
    var limit = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// Sends bytes; the server may close the connection meanwhile.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func request(
    _ method: String, _ target: String, _ headers: [String: String] = [:], body: String = ""
  ) throws -> Answer {
    var text = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    if !body.isEmpty { text += "Content-Length: \(body.utf8.count)\r\n" }
    send(text + "\r\n" + body)
    return try answer(hasBody: method != "HEAD")
  }

  /// The next answer.
  func answer(hasBody: Bool = true) throws -> Answer {
    while true {
      if let end = received.firstRange(of: [13, 10, 13, 10]) {
        let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
        received.removeSubrange(..<end.upperBound)
        return try answer(head, hasBody: hasBody)
      }
      guard try receive() else { throw Failure(description: "the server closed the connection") }
    }
  }

  private func answer(_ head: String, hasBody: Bool) throws -> Answer {
    let lines = head.components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, let status = Int(words[1]) else {
      throw Failure(description: "not an answer: \(lines[0])")
    }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    var answer = Answer(status: status, headers: headers, body: [])
    guard hasBody, status != 304, status != 204 else { return answer }
    if let length = headers["content-length"].flatMap({ Int($0) }) {
      while received.count < length {
        guard try receive() else { throw Failure(description: "the body is incomplete") }
      }
      answer.body = Array(received[..<length])
      received.removeSubrange(..<length)
    } else {
      while try receive() {}
      answer.body = received
      received = []
    }
    return answer
  }

  /// The next line, without its end; nil after the last.
  func line() throws -> String? {
    while true {
      if let end = received.firstIndex(of: 10) {
        let line = String(decoding: received[..<end].filter { $0 != 13 }, as: UTF8.self)
        received.removeSubrange(...end)
        return line
      }
      guard try receive() else { return nil }
    }
  }

  /// Reads until the server closes the connection; whether it did so in time.
  func waitForEnd() -> Bool {
    while true {
      guard let isOpen = try? receive() else { return false }
      if !isOpen { return true }
    }
  }

  /// Takes in what has arrived; false at the end of the connection.
  private func receive() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN {
      throw Failure(description: "the server did not answer in time")
    }
    guard count > 0 else { return false }
    received += buffer[..<count]
    return true
  }
}

/// A minimal HTTP client.
enum HTTP {
  /// The body of the answer to a request on this machine; its status must be 200.
  static func get(_ target: String, port: Int) throws -> [UInt8] {
    let answer = try RawConnection(port: port).request("GET", target, ["Connection": "close"])
    try #require(answer.status == 200)
    return answer.body
  }
}
