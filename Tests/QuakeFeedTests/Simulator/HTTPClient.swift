import CCompression
import Glibc
import TestSupport

/// The answer of a server.
struct HTTPReply {
  var status = 0
  /// By lower-case name.
  var headers: [String: String] = [:]
  var body: [UInt8] = []

  var text: String { String(decoding: body, as: UTF8.self) }
  /// Whether the body is as long as `Content-Length` says.
  var isComplete: Bool { headers["content-length"].flatMap { Int($0) } == body.count }
}

/// One connection to a server on this machine; one request.
///
/// It is deliberately simple, so that it shows the received bytes.
final class HTTPClient {
  struct Failure: Error {
    var what: String
  }

  private let descriptor: Int32
  private var received: [UInt8] = []
  private(set) var isClosed = false

  init(port: Int) throws {
    guard let descriptor = LocalSocket.connect(toPort: port) else {
      throw Failure(what: "no server at port \(port)")
    }
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  func send(_ method: String, _ target: String, _ headers: [String] = []) throws {
    let lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"] + headers
    let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    let sent = Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
    guard sent == request.count else { throw Failure(what: "could not send") }
  }

  /// Reads until `isEnough`, the end of the connection, or `milliseconds` without data.
  func read(milliseconds: Int32 = 180_000, until isEnough: ((HTTPReply) -> Bool)? = nil) {
    while !isClosed {
      if let isEnough, isEnough(reply) { return }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, milliseconds) > 0 else { return }
      let old = received.count
      received += [UInt8](repeating: 0, count: 262_144)
      let count = received.withUnsafeMutableBytes { bytes in
        bytes.baseAddress.map { recv(descriptor, $0 + old, 262_144, 0) } ?? 0
      }
      received.removeLast(262_144 - max(0, count))
      if count <= 0 { isClosed = true }
    }
  }

  /// The answer as far as it was received.
  var reply: HTTPReply {
    var reply = HTTPReply()
    let end: [UInt8] = [13, 10, 13, 10]
    guard
      let head = received.indices.first(where: {
        received[$0] == 13 && received[$0...].starts(with: end)
      })
    else { return reply }
    let lines = String(decoding: received[..<head], as: UTF8.self).split(separator: "\r\n")
    reply.status = Int(lines[0].split(separator: " ")[1]) ?? 0
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      reply.headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    reply.body = Array(received[(head + 4)...])
    return reply
  }

  /// The whole answer to one request.
  static func request(
    _ method: String, _ target: String, port: Int, _ headers: [String] = []
  ) throws -> HTTPReply {
    let client = try HTTPClient(port: port)
    try client.send(method, target, headers)
    client.read()
    return client.reply
  }

  static func get(_ target: String, port: Int, _ headers: [String] = []) throws -> HTTPReply {
    try request("GET", target, port: port, headers)
  }
}

/// The contents of a gzip file, and whether it is complete.
func gunzip(_ bytes: [UInt8]) -> (bytes: [UInt8], isComplete: Bool) {
  var stream = z_stream()
  inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
  defer { inflateEnd(&stream) }
  var output: [UInt8] = []
  var input = bytes
  var isComplete = false
  input.withUnsafeMutableBufferPointer { input in
    stream.next_in = input.baseAddress
    stream.avail_in = UInt32(input.count)
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let (status, unused) = piece.withUnsafeMutableBufferPointer { piece in
        stream.next_out = piece.baseAddress
        stream.avail_out = UInt32(piece.count)
        let status = inflate(&stream, Z_NO_FLUSH)
        return (status, Int(stream.avail_out))
      }
      output += piece[..<(piece.count - unused)]
      isComplete = status == Z_STREAM_END
      if status != Z_OK { break }
    }
  }
  return (output, isComplete)
}
