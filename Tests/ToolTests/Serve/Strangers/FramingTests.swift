import Glibc
import TestSupport
import Testing

/// Requests whose end or whose host is not clear, so that a proxy could read them in another way.
@Suite struct FramingTests {
  private static let host = "Host: localhost\r\n"

  /// Requests that the server reads and refuses with status 400.
  private static let unclear: [(name: String, request: String)] = [
    ("two lengths", post("\(host)Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc")),
    ("two different lengths", post("\(host)Content-Length: 0\r\nContent-Length: 30\r\n\r\n")),
    (
      "a length and chunks",
      post("\(host)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    ),
    (
      "chunks and a length",
      post("\(host)Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n")
    ),
    ("another coding", post("\(host)Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n")),
    ("two codings", post("\(host)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")),
    ("a blank before the colon", post("\(host)Content-Length : 3\r\n\r\nabc")),
    ("a tab before the colon", post("\(host)Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n")),
    ("a name of a strange character", get("\(host)X(y): 1\r\n\r\n")),
    ("no host", get("Accept: */*\r\n\r\n")),
    ("two hosts", get("\(host)Host: 127.0.0.1\r\n\r\n")),
    ("two hosts of HTTP/1.0", "GET /healthz HTTP/1.0\r\n\(host)\(host)\r\n"),
    ("chunks of HTTP/1.0", "POST / HTTP/1.0\r\n\(host)Transfer-Encoding: chunked\r\n\r\n"),
    ("a field on two lines", get("\(host)Accept: text/html,\r\n text/plain\r\n\r\n")),
    ("the first field on two lines", get("Host:\r\n localhost\r\nAccept: */*\r\n\r\n")),
    ("the last field on two lines", get("\(host)X-Long: a\r\n\tb\r\n\r\n")),
    ("a zero in a value", get("\(host)Accept: a\u{0}b\r\nX: 1\r\n\r\n")),
    ("a zero in the last value", get("\(host)Accept: a\u{0}b\r\n\r\n")),
    ("a zero at the end of the header", get("\(host)Accept: a\u{0}\r\n\r\n")),
    ("a zero in the target", "GET /healthz\u{0}x HTTP/1.1\r\n\(host)\r\n"),
    ("a version behind a zero", "GET /healthz\u{0}HTTP/1.1 HTTP/1.1\r\n\(host)\r\n"),
    ("a zero in the method", "GET\u{0}X /healthz HTTP/1.1\r\n\(host)\r\n"),
    ("a blank in the target", "GET /healthz x HTTP/1.1\r\n\(host)\r\n"),
    ("two blanks", "GET  /healthz HTTP/1.1\r\n\(host)\r\n"),
    ("a lone carriage return", get("\(host)Accept: a\rX: 1\r\n\r\n")),
    ("a first line without a carriage return", "GET /healthz HTTP/1.1\n\(host)\r\n"),
    ("a field without a carriage return", get("Host: localhost\nAccept: a\r\n\r\n")),
    ("a last field without a carriage return", get("\(host)Accept: a\n\r\n")),
    ("an end without a carriage return", get("\(host)\n")),
    ("no carriage returns", "GET /healthz HTTP/1.0\n\n"),
    ("a strange character in the method", "GE(T /healthz HTTP/1.1\r\n\(host)\r\n"),
    ("another host in the address", "GET http://evil/healthz HTTP/1.1\r\n\(host)\r\n"),
    ("another port in the address", "GET http://localhost:1/healthz HTTP/1.1\r\n\(host)\r\n"),
    ("a user in the address", "GET http://localhost@evil/ HTTP/1.1\r\n\(host)\r\n"),
    ("a list of hosts", get("Host: 127.0.0.1:27450, evil\r\n\r\n")),
    ("a name after an address", get("Host: [::1]evil.com\r\n\r\n")),
    ("an address without an end", get("Host: [::1\r\n\r\n")),
    ("a port of letters", get("Host: localhost:abc\r\n\r\n")),
    ("a port that is too large", get("Host: localhost:999999\r\n\r\n")),
    ("a negative port", get("Host: localhost:-1\r\n\r\n")),
    ("a length after the body", chunked("0\r\nContent-Length: 5\r\n\r\n")),
    ("a host after the body", chunked("0\r\nX: 1\r\nHost: evil\r\n\r\n")),
    ("chunks after the body", chunked("0\r\nTransfer-Encoding: chunked\r\n\r\n")),
    ("a control character after the body", chunked("0\r\nX: a\rb\r\n\r\n")),
  ]

  /// Requests that libmicrohttpd cannot read, and their status.
  private static let unreadable: [(name: String, status: Int, request: String)] =
    ["3, 3", "-3", "0x3", "", "\u{b2}"].map {
      ("the length \($0)", 400, post("\(host)Content-Length: \($0)\r\n\r\nabc"))
    } + [
      (
        "an enormous length", 413,
        post("\(host)Content-Length: 99999999999999999999999\r\n\r\nabc")
      ),
      (
        "a length beyond Int", 413,
        post("\(host)Content-Length: 9223372036854775808\r\n\r\nabc")
      ),
      (
        "the largest length", 413, post("\(host)Content-Length: 18446744073709551615\r\n\r\nabc")
      ),
      ("a field without a colon", 400, get("\(host)Accept\r\n\r\n")),
      ("a first field without a colon", 400, get("Accept\r\n\(host)\r\n")),
      ("a zero in a name", 400, get("\(host)Ac\u{0}cept: a\r\nX: 1\r\n\r\n")),
      ("HTTP in small letters", 400, "GET /healthz http/1.1\r\n\(host)\r\n"),
      ("no version", 400, "GET /healthz\r\n\(host)\r\n"),
      ("a version of letters", 400, "GET /healthz HTTP/x.y\r\n\(host)\r\n"),
      ("a version that is too old", 505, "GET /healthz HTTP/0.9\r\n\(host)\r\n"),
      ("a version that is too new", 505, "GET /healthz HTTP/2.0\r\n\(host)\r\n"),
      ("the size of a chunk that is no number", 400, chunked("zz\r\nabc\r\n0\r\n\r\n")),
      ("a chunk without a size", 400, chunked("\r\nabc\r\n0\r\n\r\n")),
      ("a chunk that does not end", 400, chunked("3\r\nabcX\r\n0\r\n\r\n")),
      ("an enormous chunk", 413, chunked("fffffffffffffffff\r\nabc\r\n0\r\n\r\n")),
      ("a line without a colon after the body", 400, chunked("0\r\nX\r\n\r\n")),
      (
        "a field that is too long", 431,
        get("\(host)X: \(String(repeating: "a", count: 8000))\r\n\r\n")
      ),
      (
        "too many fields", 431,
        get(host + String(repeating: "X: 1\r\n", count: 1000) + "\r\n")
      ),
      (
        "an address without an end", 414,
        "GET /\(String(repeating: "a", count: 8000)) HTTP/1.1\r\n\(host)\r\n"
      ),
    ]

  private static func get(_ rest: String) -> String { "GET /healthz HTTP/1.1\r\n" + rest }
  private static func post(_ rest: String) -> String { "POST /v1/refresh HTTP/1.1\r\n" + rest }
  private static func chunked(_ body: String) -> String {
    post("\(host)Transfer-Encoding: chunked\r\n\r\n" + body)
  }

  @Test func unclearRequestsAreRefusedAndTheirConnectionsClosed() throws {
    let server = try ServerProcess(TestDatabase())
    let all = Self.unclear.map { ($0.name, 400, $0.request) } + Self.unreadable
    for (name, status, request) in all {
      let connection = try RawConnection(port: server.port)
      // What a proxy would take for a request of somebody else.
      connection.send(request + "GET /healthz HTTP/1.1\r\n\(Self.host)\r\n")
      let answer = try connection.answer().expect(status, with: name)
      #expect(answer.headers["connection"]?.lowercased() == "close", "\(name)")
      #expect(answer.headers["content-type"] == "application/problem+json", "\(name)")
      #expect((try answer.json() as? [String: Any])?["status"] as? Int == status, "\(name)")
      #expect(throws: RawConnection.Failure.self, "\(name): a second answer") {
        try connection.answer()
      }
    }
    try server.stop()
  }

  @Test func anUnreadableRequestBehindOthersIsRefusedAfterTheirAnswers() throws {
    let server = try ServerProcess(TestDatabase())
    let good = Self.get("\(Self.host)\r\n")
    for (name, status, request) in Self.unreadable {
      let connection = try RawConnection(port: server.port)
      connection.send(good + good + request + good)
      for _ in 0..<2 { #expect(try connection.answer().text == "ok\n", "\(name)") }
      #expect(try connection.answer().status == status, "\(name)")
      #expect(throws: RawConnection.Failure.self, "\(name)") { try connection.answer() }
    }
    // In pieces that arrive one after another.
    for (name, status, request) in Self.unreadable where request.utf8.count < 300 {
      let connection = try RawConnection(port: server.port)
      let bytes = Array(request.utf8)
      for start in stride(from: 0, to: bytes.count, by: 7) {
        connection.send(Array(bytes[start..<min(start + 7, bytes.count)]))
        sched_yield()
      }
      #expect(try connection.answer().status == status, "\(name) in pieces")
    }
    try server.stop()
  }

  @Test func nothingBehindABodyInChunksIsTakenForARequest() throws {
    let server = try ServerProcess(TestDatabase())
    // Lines that libmicrohttpd reads, and that a proxy may take for a part of the body.
    for body in ["0\n\n", "0\n\r\n", "1\na\n0\n\n", "1;x\na\r\n0\r\n\r\n", "0\r\nX: 1\n\n"] {
      let connection = try RawConnection(port: server.port)
      connection.send(Self.chunked(body) + Self.get("\(Self.host)\r\n"))
      let answer = try connection.answer()
      #expect(answer.status >= 400, "\(body)")
      #expect(answer.headers["connection"]?.lowercased() == "close", "\(body)")
      #expect(throws: RawConnection.Failure.self, "\(body)") { try connection.answer() }
    }
    try server.stop()
  }

  @Test func clearRequestsInUnusualFormsAreAnswered() throws {
    let server = try ServerProcess(TestDatabase())
    let lines = [
      "\r\n" + Self.get("\(Self.host)\r\n"), Self.get("hOST:localhost  \r\nX:\r\n\r\n"),
      Self.get("Host:\tlocalhost\r\nAccept: \u{e9}\r\nAccept: b\r\n\r\n"),
      "GET /healthz?a=1&b HTTP/1.1\r\nHost: localhost\r\nX: \r\n\r\n",
      "GET http://localhost/healthz HTTP/1.1\r\n\(Self.host)\r\n",
      "GET HTTP://LocalHost:80/healthz HTTP/1.1\r\n\(Self.host)\r\n",
      "GET /healthz HTTP/1.5\r\n\(Self.host)\r\n",
      Self.get("Host: localhost:\r\n\r\n"), Self.get("Host: [0:0:0:0:0:0:0:1]:65535\r\n\r\n"),
    ]
    let connection = try RawConnection(port: server.port)
    for line in lines {
      connection.send(line)
      #expect(try connection.answer().text == "ok\n", "\(line)")
    }
    // All at once.
    connection.send(lines.joined())
    for line in lines { #expect(try connection.answer().text == "ok\n", "\(line)") }
    connection.send("GET /healthz HTTP/1.0\r\n\r\n")
    #expect(try connection.answer().text == "ok\n")
    for body in ["0\r\n\r\n", "3;a=b\r\nabc\r\n0\r\nX-Digest: 1\r\n\r\n"] {
      let posted = try RawConnection(port: server.port)
      posted.send(Self.post("\(Self.host)Transfer-Encoding: Chunked\r\n\r\n" + body))
      #expect(try posted.answer().status == 403)
    }
    try server.stop()
  }

  @Test func lateAndLongRequestsAreRefusedInTheServersForm() throws {
    let server = try ServerProcess(TestDatabase(), ["--request-timeout", "1s"])
    let late = try RawConnection(port: server.port)
    let long = try RawConnection(port: server.port)
    long.send("GET /healthz?\(String(repeating: "a", count: 3000)) HTTP/1.1\r\n\(Self.host)\r\n")
    for (connection, status) in [(late, 408), (long, 414)] {
      let answer = try connection.answer().expect(status)
      #expect(answer.headers["content-type"] == "application/problem+json")
      #expect((try answer.json() as? [String: Any])?["status"] as? Int == status)
    }
  }
}
