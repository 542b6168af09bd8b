import TestSupport
import Testing

/// Requests whose end or whose host is not clear, so that a proxy could read them in another way.
@Suite struct FramingTests {
  private static let host = "Host: localhost\r\n"

  /// Requests that the server reads and refuses.
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
    ("no name", get("\(host): 1\r\n\r\n")),
    ("no host", get("Accept: */*\r\n\r\n")),
    ("no header field", get("\r\n")),
    ("two hosts", get("\(host)Host: 127.0.0.1\r\n\r\n")),
    ("two hosts of HTTP/1.0", "GET /healthz HTTP/1.0\r\n\(host)\(host)\r\n"),
    ("chunks of HTTP/1.0", "POST / HTTP/1.0\r\n\(host)Transfer-Encoding: chunked\r\n\r\n"),
    ("a field on two lines", get("\(host)Accept: text/html,\r\n text/plain\r\n\r\n")),
    ("the first field on two lines", get("Host:\r\n localhost\r\nAccept: */*\r\n\r\n")),
    ("the last field on two lines", get("\(host)X-Long: a\r\n\tb\r\n\r\n")),
    ("a zero in a value", get("\(host)Accept: a\u{0}b\r\nX: 1\r\n\r\n")),
    ("a zero in the last value", get("\(host)Accept: a\u{0}b\r\n\r\n")),
    ("two zeros in the last value", get("\(host)Accept: a\u{0}\u{0}b\r\n\r\n")),
    ("a zero at the end of a value", get("\(host)Accept: a\u{0}\r\nX: 1\r\n\r\n")),
    ("a zero at the end of the header", get("\(host)Accept: a\u{0}\r\n\r\n")),
    ("a zero in the target", "GET /healthz\u{0}x HTTP/1.1\r\n\(host)\r\n"),
    ("a version behind a zero", "GET /healthz\u{0}HTTP/1.1 HTTP/1.1\r\n\(host)\r\n"),
    ("a zero in the method", "GET\u{0}X /healthz HTTP/1.1\r\n\(host)\r\n"),
    ("a blank in the target", "GET /healthz x HTTP/1.1\r\n\(host)\r\n"),
    ("two blanks", "GET  /healthz HTTP/1.1\r\n\(host)\r\n"),
    ("a lone carriage return", get("\(host)Accept: a\rX: 1\r\n\r\n")),
  ]

  /// Requests that libmicrohttpd refuses with a page of its own, before the server sees them.
  private static let unreadable: [(name: String, request: String)] = [
    ("a length that is no number", post("\(host)Content-Length: 3, 3\r\n\r\nabc")),
    ("a negative length", post("\(host)Content-Length: -3\r\n\r\nabc")),
    ("a field without a colon", get("\(host)Accept\r\n\r\n")),
    ("a zero in a name", get("\(host)Ac\u{0}cept: a\r\nX: 1\r\n\r\n")),
  ]

  private static func get(_ rest: String) -> String { "GET /healthz HTTP/1.1\r\n" + rest }
  private static func post(_ rest: String) -> String { "POST /v1/refresh HTTP/1.1\r\n" + rest }

  @Test func unclearRequestsAreRefusedAndTheirConnectionsClosed() throws {
    let server = try ServerProcess(TestDatabase())
    for (name, request) in Self.unclear + Self.unreadable {
      let connection = try RawConnection(port: server.port)
      // What a proxy would take for a request of somebody else.
      connection.send(request + "GET /healthz HTTP/1.1\r\n\(Self.host)\r\n")
      let answer = try connection.answer()
      #expect(answer.status == 400, "\(name): \(answer)")
      #expect(answer.headers["connection"]?.lowercased() == "close", "\(name)")
      if Self.unclear.contains(where: { $0.name == name }) {
        #expect(answer.headers["content-type"] == "application/problem+json", "\(name)")
        #expect((try answer.json() as? [String: Any])?["status"] as? Int == 400, "\(name)")
      }
      #expect(throws: RawConnection.Failure.self, "\(name): a second answer") {
        try connection.answer()
      }
    }
    try server.stop()
  }

  @Test func clearRequestsInUnusualFormsAreAnswered() throws {
    let server = try ServerProcess(TestDatabase())
    let lines = [
      "\r\n" + Self.get("\(Self.host)\r\n"), Self.get("hOST:localhost  \r\nX:\r\n\r\n"),
      Self.get("Host:\tlocalhost\r\nAccept: \u{e9}\r\nAccept: b\r\n\r\n"),
      "GET /healthz?a=1&b HTTP/1.1\nHost: localhost\nX: \n\n",
    ]
    let connection = try RawConnection(port: server.port)
    for line in lines {
      connection.send(line)
      #expect(try connection.answer().text == "ok\n", "\(line)")
    }
    connection.send("GET /healthz HTTP/1.0\r\n\r\n")
    #expect(try connection.answer().text == "ok\n")
    let posted = try RawConnection(port: server.port)
    posted.send(Self.post("\(Self.host)Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"))
    #expect(try posted.answer().status == 403)
    try server.stop()
  }

  @Test func anUnchangedDocumentKeepsItsLength() throws {
    let server = try ServerProcess(TestDatabase())
    let connection = try RawConnection(port: server.port)
    let tag = try #require(try connection.request("GET", "/healthz").headers["etag"])
    let same = try connection.request("GET", "/healthz", ["If-None-Match": tag])
    #expect(same.status == 304 && same.headers["content-length"] == "3")
    // It has no body: the next answer follows.
    #expect(try connection.request("GET", "/healthz").text == "ok\n")
    try server.stop()
  }

  @Test func lateAndLongRequestsAreRefusedInTheServersForm() throws {
    let server = try ServerProcess(TestDatabase(), ["--request-timeout", "1s"])
    let late = try RawConnection(port: server.port)
    let long = try RawConnection(port: server.port)
    long.send("GET /healthz?\(String(repeating: "a", count: 3000)) HTTP/1.1\r\n\(Self.host)\r\n")
    for (connection, status) in [(late, 408), (long, 414)] {
      let answer = try connection.answer()
      #expect(answer.status == status)
      #expect(answer.headers["content-type"] == "application/problem+json")
      #expect((try answer.json() as? [String: Any])?["status"] as? Int == status)
    }
  }
}
