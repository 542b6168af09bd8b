import Basics
import Glibc
import QuakeModel
import TestSupport
import Testing

@testable import QuakeFeed

@Suite struct FeedClientTests {
  private typealias Answer = TestServer.Answer

  private static let feedText = collection(feature(#""place":"Pāhala""#), feature())

  private func client(
    stall: Int = 180_000, interrupt: (() -> Bool)? = nil
  ) -> FeedClient {
    var options = FeedClient.Options(version: "1.2.3", interrupt: interrupt)
    options.stallTimeoutMilliseconds = stall
    options.connectTimeoutMilliseconds = 180_000
    return FeedClient(options: options)
  }

  private func withServer(
    _ answer: @escaping @Sendable (String) -> TestServer.Answer, _ body: (TestServer) throws -> Void
  ) throws {
    let server = try TestServer(answer)
    defer { server.stop() }
    try body(server)
  }

  /// The error that fetching and reading a feed ends in; nil when there is none.
  private func failure(_ client: FeedClient, _ url: String) -> FeedError? {
    thrown { () throws(FeedError) in _ = try FeedContents(client.open(url: url).body) }
  }

  @Test func aFeedAndItsHeaders() throws {
    let body = Array(Self.feedText.utf8)
    try withServer { _ in
      Answer(
        "200 OK",
        headers: [
          "ETag: \"abc\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
          "Date: Sun, 06 Nov 1994 08:50:00 GMT", "Cache-Control: public, max-age=60",
        ], body: body)
    } _: { server in
      let response = try client().open(url: server.url())
      #expect(response.status == 200)
      #expect(response.validators.etag == "\"abc\"")
      #expect(response.validators.lastModified == "Sun, 06 Nov 1994 08:49:37 GMT")
      #expect(response.lastModified?.description == "1994-11-06T08:49:37.000Z")
      #expect(response.date?.description == "1994-11-06T08:50:00.000Z")
      #expect(response.maxAge == 60)
      #expect(response.retryAfter == nil)
      #expect(try FeedContents(response.body).records.count == 2)
      let request = try #require(server.requests.first)
      #expect(request.contains("User-Agent: quake/1.2.3\r\n"))
      #expect(request.contains("Accept-Encoding: gzip\r\n"))
      #expect(!request.contains("If-None-Match"))
    }
  }

  @Test func validatorsAreSentAnd304IsNoError() throws {
    try withServer { request in
      request.contains("If-None-Match: \"abc\"\r\n")
        && request.contains("If-Modified-Since: yesterday\r\n")
        ? Answer(Array("HTTP/1.1 304 Not Modified\r\nETag: \"abc\"\r\n\r\n".utf8))
        : Answer("200 OK")
    } _: { server in
      let response = try client().open(
        url: server.url(), validators: FeedValidators(etag: "\"abc\"", lastModified: "yesterday"))
      #expect(response.isNotModified)
      #expect(response.validators.etag == "\"abc\"")
      let evil = try client().open(
        url: server.url(), validators: FeedValidators(etag: "a\r\nEvil: 1", lastModified: nil))
      #expect(!evil.isNotModified)
      #expect(server.requests.last?.contains("Evil") == false)
    }
  }

  @Test func theWordsOfARefusalAreKept() throws {
    let text = "Error 404: no data\n" + String(repeating: "x", count: 5000)
    try withServer { request in
      Answer(request.contains("/empty") ? "400 Bad" : "404 None", body: Array(text.utf8))
    } _: { server in
      for path in ["/empty", "/else"] {
        let error = try #require(failure(client(), server.url(path)))
        #expect(error.answer == String(text.prefix(2048)))
        #expect(error.saysNoData)
      }
    }
  }

  @Test(
    arguments: [
      ("404 Not Found", [], 404, nil),
      ("429 Too Many Requests", ["Retry-After: 120"], 429, 120),
      (
        "503 Service Unavailable",
        ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994 08:50:37 GMT"], 503,
        60
      ),
      ("500 Oops", ["Retry-After: nonsense"], 500, nil),
      ("202 Accepted", [], 202, nil), ("203 Non-Authoritative Information", [], 203, nil),
      ("206 Partial Content", [], 206, nil), ("300 Multiple Choices", [], 300, nil),
      ("301 Moved Permanently", [], 301, nil), ("304 Not Modified", [], 304, nil),
    ] as [(String, [String], Int, Int?)])
  func otherStatusesAreErrors(
    line: String, headers: [String], status: Int, retryAfter: Int?
  ) throws {
    try withServer { _ in
      Answer(line, headers: headers, body: Array("<html>".utf8))
    } _: { server in
      let url = "http://me:secret@127.0.0.1:\(server.port)/x"
      let error = try #require(failure(client(), url))
      #expect(error.code == .httpStatus)
      #expect(error.category == .unavailable)
      #expect(error.status == status)
      #expect(error.retryAfter == retryAfter)
      #expect(!error.description.contains("secret"))
      #expect(server.requests.first?.contains("Authorization: Basic ") == true)
    }
  }

  @Test func redirectsAreFollowed() throws {
    let body = Array(Self.feedText.utf8)
    try withServer { request in
      request.hasPrefix("GET /old")
        ? Answer("302 Found", headers: ["Location: /new", "ETag: \"old\""], body: [1, 2, 3])
        : Answer("200 OK", body: body)
    } _: { server in
      let response = try client().open(url: server.url("/old"))
      #expect(server.requests.last?.hasPrefix("GET /new ") == true)
      #expect(response.validators.etag == nil)
      #expect(try FeedContents(response.body).records.count == 2)
    }
  }

  @Test func redirectsHaveLimits() throws {
    try withServer { request in
      request.hasPrefix("GET /file")
        ? Answer("302 Found", headers: ["Location: file:///etc/passwd"])
        : Answer("302 Found", headers: ["Location: /again"])
    } _: { server in
      #expect(failure(client(), server.url())?.code == .tooManyRedirects)
      #expect(server.requests.count == 6)
      #expect(failure(client(), server.url("/file"))?.code == .network)
    }
  }

  @Test func aBodyShorterThanPromisedIsAnError() throws {
    let body = Array(Self.feedText.utf8)
    try withServer { _ in
      Answer("200 OK", body: body, length: body.count + 1)
    } _: { server in
      let error = try #require(failure(client(), server.url()))
      #expect(error.code == .truncatedTransfer)
      #expect(error.category == .unavailable)
      #expect(error.message.contains("truncated"))
    }
  }

  @Test func aBodyWithoutLengthThatIsCutIsAnError() throws {
    let body = Array(Self.feedText.utf8.dropLast(3))
    try withServer { _ in
      Answer(Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + body)
    } _: { server in
      #expect(failure(client(), server.url())?.code == .truncated)
    }
  }

  @Test func aStallIsAnErrorBeforeAndWithinTheBody() throws {
    let body = Array(Self.feedText.utf8)
    try withServer { request in
      request.hasPrefix("GET /headers")
        ? Answer([], end: .hold)
        : Answer("200 OK", body: Array(body.prefix(20)), length: body.count, end: .hold)
    } _: { server in
      for path in ["/headers", "/body"] {
        let error = try #require(failure(client(stall: 100), server.url(path)))
        #expect(error.code == .timeout)
        #expect(error.detail == "The server sent nothing for 100 ms.")
      }
    }
  }

  @Test func aTransferCanBeInterrupted() throws {
    let body = Array(Self.feedText.utf8)
    try withServer { _ in
      Answer("200 OK", body: Array(body.prefix(20)), length: body.count, end: .hold)
    } _: { server in
      var interrupted = false
      let client = client { interrupted }
      let response = try client.open(url: server.url())
      interrupted = true
      #expect(QuakeFeedTests.failure(of: response.body)?.code == .interrupted)
      #expect(failure(client, server.url())?.category == .interrupted)
    }
  }

  @Test func aLargeBodyIsReadInPiecesOfAnySize() throws {
    var random = SeededGenerator(7)
    let body = (0..<600_000).map { _ in UInt8.random(in: 1...255, using: &random) }
    try withServer { _ in
      Answer("200 OK", body: [0] + body, end: .keep)
    } _: { server in
      let client = client()
      for _ in 0..<2 {
        let response = try client.open(url: server.url())
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 1)
        defer { buffer.deallocate() }
        var received: [UInt8] = []
        while true {
          let size = Int.random(in: 1...buffer.count, using: &random)
          let count = try response.body.read(into: .init(rebasing: buffer[..<size]))
          if count == 0 { break }
          received.append(contentsOf: buffer[..<count])
        }
        #expect(received == [0] + body)
        #expect(try response.body.read(into: buffer) == 0)
      }
    }
  }

  @Test func twoResponsesOfOneClientCanBeRead() throws {
    let body = Array(Self.feedText.utf8)
    // The server serves one connection at a time: it answers the second request after it has sent
    // the first answer.
    try withServer { _ in
      Answer("200 OK", body: body)
    } _: { server in
      let client = client()
      let first = try client.open(url: server.url())
      let second = try client.open(url: server.url())
      #expect(try FeedContents(second.body).records.count == 2)
      #expect(try FeedContents(first.body).records.count == 2)
    }
  }

  @Test func aMissingServerIsUnavailable() throws {
    // The port has no listener, and no other program gets it meanwhile.
    let (descriptor, port) = try LocalSocket.bind()
    defer { close(descriptor) }
    let error = try #require(failure(client(), "http://me:secret@127.0.0.1:\(port)/"))
    #expect(error.code == .network && error.category == .unavailable)
    #expect(!error.description.contains("secret"))
    #expect(failure(client(), "http://no-such-host.invalid/")?.code == .network)
    #expect(failure(client(), "http://")?.code == .invalidReference)
    #expect(failure(client(), "gopher://x/")?.code == .invalidReference)
  }
}
