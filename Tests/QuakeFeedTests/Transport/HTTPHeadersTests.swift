import Basics
import QuakeModel
import Testing

@testable import QuakeFeed

@Suite struct HTTPHeadersTests {
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

  @Test func datesAfterTheYear9999AreIgnored() {
    for year in ["300000", "30000", "99999999999"] {
      #expect(
        headers("Last-Modified: Sat, 01 Jan \(year) 00:00:00 GMT").date("last-modified") == nil)
    }
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
