import CLibcrypto

/// The request that changes a connection to the WebSocket protocol (RFC 6455, section 4).
enum WebSocketHandshake {
  /// The header fields of the answer, status 101.
  ///
  /// - Throws: `HTTPError` 400 if the request is not one for a WebSocket.
  static func answer(_ request: Request) throws(HTTPError) -> HeaderFields {
    let upgrade = words(request.headers.list("upgrade"))
    let connection = words(request.headers.list("connection"))
    guard upgrade.contains("websocket"), connection.contains("upgrade") else {
      throw HTTPError(
        400,
        "This address speaks the WebSocket protocol. The same changes come as Server-Sent Events from /v1/changes.",
        ["Upgrade": "websocket"])
    }
    guard request.headers["sec-websocket-version"] == "13" else {
      throw HTTPError(
        400, "The server speaks version 13 of the WebSocket protocol.",
        ["Sec-WebSocket-Version": "13"])
    }
    guard let key = request.headers["sec-websocket-key"], key.utf8.count == 24,
      key.hasSuffix("=="),
      key.utf8.dropLast(2).allSatisfy({ letters.contains($0) })
    else {
      throw HTTPError(400, "The header Sec-WebSocket-Key is not 16 bytes in base64.")
    }
    return ["Upgrade": "websocket", "Sec-WebSocket-Accept": accept(key)]
  }

  private static func words(_ list: String?) -> [String] {
    (list ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
  }

  /// The proof that the server has read the key: the protocol prescribes SHA-1 and this text.
  static func accept(_ key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    SHA1(text, text.count, &digest)
    return base64(digest)
  }

  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let number = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
      for index in 0...3 {
        text.append(
          index <= part.count ? letters[number >> (6 * (3 - index)) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
