import Basics
import QuakeModel
import Testing

@testable import QuakeFeed

/// Answers that servers, caches and portals give in place of a feed, or around one: each is a feed or an error,
/// never a feed of no events.
@Suite struct OddAnswerTests {
  private typealias Answer = TestServer.Answer

  private static let feed = Array(collection(feature(), feature()).utf8)

  private func client() -> FeedClient {
    var options = FeedClient.Options(version: "1.2.3")
    options.stallTimeoutMilliseconds = 20_000
    return FeedClient(options: options)
  }

  /// The number of events that the answers lead to, or the error.
  private func outcome(
    _ answer: @escaping @Sendable (String) -> TestServer.Answer
  ) throws -> Result<Int, FeedError> {
    let server = try TestServer(answer)
    defer { server.stop() }
    do throws(FeedError) {
      let response = try client().open(url: server.url())
      return .success(try FeedContents(response.body).records.count)
    } catch {
      return .failure(error)
    }
  }

  @Test(arguments: [
    "Expires: 0\r\nCache-Control: max-age=-1, foo", "Cache-Control: public, max-age=31536000",
    "Last-Modified: Fri, 01 Jan 2099 00:00:00 GMT", "Content-Encoding: gzip",
    "Content-Encoding: identity", "ETag: W/\"abc\"", "Content-Type: application/x-gzip",
  ])
  func headersAreNotTrusted(headers: String) throws {
    let count = try outcome { _ in Answer("200 OK", headers: [headers], body: Self.feed) }.get()
    #expect(count == 2)
  }

  @Test func bodiesAreCompressedAsTheirFirstBytesSay() throws {
    let once = try gzip(String(decoding: Self.feed, as: UTF8.self))
    let twice = try gzip(once)
    #expect(
      try outcome { _ in Answer("200 OK", headers: ["Content-Encoding: gzip"], body: twice) }.get()
        == 2)
    for headers in [["Content-Encoding: gzip"], [], ["Content-Encoding: x-gzip"]] {
      #expect(try outcome { _ in Answer("200 OK", headers: headers, body: once) }.get() == 2)
    }
  }

  @Test func anInterimAnswerARelativeRedirectAndAMissingLengthDoNotMatter() throws {
    let plain = Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + Self.feed
    let hints = Array("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n".utf8)
    #expect(try outcome { _ in Answer(plain) }.get() == 2)
    #expect(try outcome { _ in Answer(hints + plain) }.get() == 2)
    let moved = try outcome { request in
      request.hasPrefix("GET /other?x=1")
        ? Answer(plain) : Answer("301 Moved Permanently", headers: ["Location: other?x=1"])
    }
    #expect(try moved.get() == 2)
  }

  @Test func oddTimesToWaitAreNotBelieved() throws {
    for (header, most) in [
      ("Retry-After: -5", 0), ("Retry-After: Fri, 01 Jan 2099 00:00:00 GMT", Int.max),
    ] {
      let result = try outcome { _ in
        Answer("503 Service Unavailable", headers: [header], body: [0x78])
      }
      let error = try #require(throws: FeedError.self) { try result.get() }
      #expect(error.retryAfter.map { $0 >= 0 && $0 <= most } == true)
      // The schedule limits the pause to a day.
      var schedule = FeedSchedule(every: .seconds(60))
      #expect(schedule.failed(retryAfter: error.retryAfter, chance: 0).length <= .seconds(86_400))
    }
  }

  @Test func httpWithoutAHeaderIsAnError() throws {
    let result = try outcome { _ in Answer(Self.feed) }
    #expect(try #require(throws: FeedError.self) { try result.get() }.category == .unavailable)
  }

  /// Some services send a sentence with the status for no content. It is no part of the next answer.
  @Test func aBodyAfterNoContentIsIgnored() throws {
    let server = try TestServer { request in
      request.hasPrefix("GET /none")
        ? Answer(
          Array("HTTP/1.1 204 No Content\r\nContent-Length: 18\r\n\r\nError 204: nothing".utf8),
          end: .keep)
        : Answer("200 OK", body: Self.feed)
    }
    defer { server.stop() }
    let client = client()
    for _ in 0..<3 {
      #expect(try client.open(url: server.url("/none")).isEmpty)
      #expect(try FeedContents(client.open(url: server.url()).body).records.count == 2)
    }
  }

  private func headers(_ lines: String...) -> HTTPHeaders {
    var headers = HTTPHeaders()
    for line in lines {
      Array("\(line)\r\n".utf8).withUnsafeBytes { headers.add(line: $0) }
    }
    return headers
  }

  @Test(
    arguments: [
      (["Cache-Control: max-age=60"], 60), (["cache-control: public, MAX-AGE=5, x"], 5),
      (["Cache-Control: no-cache, max-age=9"], 0), (["Cache-Control: public"], nil), ([], nil),
      (["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Expires: Sun, 06 Nov 1994 08:50:37 GMT"], 60),
      (["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Expires: Sunday, 06-Nov-94 08:49:30 GMT"], 0),
      (["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Expires: 0"], 0),
      (["Expires: Sun, 06 Nov 1994 08:50:37 GMT"], nil),
    ] as [([String], Int?)])
  func theMaximumAgeOfAnAnswerIsRead(lines: [String], seconds: Int?) {
    var headers = headers("HTTP/1.1 200 OK")
    for line in lines { Array("\(line)\r\n".utf8).withUnsafeBytes { headers.add(line: $0) } }
    #expect(headers.maxAge == seconds)
  }

  @Test func retryAfterWithoutDateCountsFromNow() {
    let headers = headers("HTTP/1.1 503 No", "Retry-After: Thu, 01 Jan 1970 00:02:00 GMT")
    #expect(headers.retryAfter(now: Timestamp(microseconds: 60_500_000)) == 60)
    #expect(headers.retryAfter(now: Timestamp(microseconds: 600_000_000)) == 0)
  }

  @Test func onlyTheLastResponseCounts() {
    #expect(!headers("HTTP/1.1 100 Continue", "").isComplete)
    #expect(!headers("HTTP/1.1 302 Found", "Location: /x", "").isComplete)
    #expect(headers("HTTP/1.1 302 Found", "").isComplete)
    let last = headers("HTTP/1.1 302 Found", "ETag: a", "Location: /x", "", "HTTP/2 200", "X:y", "")
    #expect(last.isComplete)
    #expect(last.status == 200)
    #expect(last.value("etag") == nil)
    #expect(last.value("x") == "y")
  }
}
