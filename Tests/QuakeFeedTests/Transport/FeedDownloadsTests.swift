import Basics
import QuakeModel
import TestSupport
import Testing

@testable import QuakeFeed

/// Concurrent downloads.
@Suite struct FeedDownloadsTests {
  private typealias Answer = TestServer.Answer

  private static let body = Array(collection(feature(), feature()).utf8)

  private func downloads(_ change: (inout FeedClient.Options) -> Void = { _ in }) -> FeedDownloads {
    var options = FeedClient.Options(version: "0")
    change(&options)
    return FeedDownloads(options: options, in: "/tmp")
  }

  /// Advances all downloads until `download` has finished.
  private func finish(_ download: FeedDownload, of downloads: FeedDownloads) throws {
    var rounds = 0
    while !download.isFinished {
      downloads.wait(milliseconds: 1000)
      rounds += 1
      try #require(rounds < 100_000)
    }
  }

  private func failure(_ download: FeedDownload) -> FeedError? {
    thrown { () throws(FeedError) in _ = try FeedContents(download.response().body) }
  }

  private static func dripping(_ path: String) throws -> TestServer {
    try TestServer { request in
      let begin = "HTTP/1.1 200 OK\r\n"
      return switch request.split(separator: " ")[1] {
      case "/headers": Answer(Array((begin + "X: ").utf8), end: .drip)
      case "/gzip":
        Answer(
          Array((begin + "Content-Encoding: gzip\r\n\r\n").utf8) + [
            0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3,
          ], end: .drip)
      default: Answer(Array((begin + "\r\n").utf8) + body.prefix(20), end: .drip)
      }
    }
  }

  @Test(arguments: ["/headers", "/body", "/gzip"])
  func aSlowServerDelaysNoOtherDownload(path: String) throws {
    let slow = try Self.dripping(path)
    defer { slow.stop() }
    let quick = try TestServer { _ in Answer("200 OK", headers: ["ETag: \"a\""], body: Self.body) }
    defer { quick.stop() }
    // The slow download must not time out before the others have ended.
    let downloads = downloads { $0.stallTimeoutMilliseconds = 600_000 }
    let first = try downloads.start(FeedURL(slow.url(path)))
    for _ in 1...3 {
      let second = try downloads.start(FeedURL(quick.url()))
      try finish(second, of: downloads)
      let response = try second.response()
      #expect(response.validators.etag == "\"a\"")
      #expect(try FeedContents(response.body).records.count == 2)
    }
    #expect(!first.isFinished && !downloads.isEmpty)
    downloads.cancel(first)
    #expect(downloads.isEmpty)
  }

  @Test(arguments: ["/headers", "/body", "/gzip"])
  func aDownloadFromASlowServerTimesOut(path: String) throws {
    let slow = try Self.dripping(path)
    defer { slow.stop() }
    let pace = downloads {
      $0.rateWindowMilliseconds = 200
      $0.stallTimeoutMilliseconds = 200
      $0.minimumRate = 100_000
    }
    let late = downloads { $0.downloadTimeoutMilliseconds = 200 }
    for (downloads, words) in [(pace, "at least 100000 a second"), (late, "the most it may take")] {
      let deadline = ContinuousClock.now + .seconds(180)
      while true {
        let download = try downloads.start(FeedURL(slow.url(path)))
        try finish(download, of: downloads)
        let error = try #require(failure(download))
        #expect(error.code == .timeout)
        if error.detail?.contains(words) == true { break }
        try #require(error.detail?.contains("sent nothing") == true, "\(error)")
        // An unfinished header line counts as silence.
        if path == "/headers" { break }
        // On a busy machine the server itself may send nothing for 200 ms: that is another download.
        try #require(ContinuousClock.now < deadline, "\(error)")
      }
    }
    // The time limit also holds for a body that is read while it is received.
    var options = FeedClient.Options(version: "0")
    options.downloadTimeoutMilliseconds = 200
    let client = FeedClient(options: options)
    #expect {
      _ = try FeedContents(try client.open(url: slow.url(path)).body)
    } throws: { ($0 as? FeedError)?.code == .timeout }
  }

  @Test func aDownloadEndsWhileItsThreadIsAlwaysBusy() throws {
    let slow = try Self.dripping("/body")
    defer { slow.stop() }
    let downloads = downloads { $0.downloadTimeoutMilliseconds = 2000 }
    let download = try downloads.start(FeedURL(slow.url("/body")))
    // Nothing waits for the network here: `eventually` is the other work of the thread.
    try eventually("the download ends") {
      downloads.advance()
      return download.isFinished
    }
    #expect(failure(download)?.code == .timeout)
  }

  @Test func aLongTimeBetweenTwoCallsDoesNotCount() throws {
    let server = try TestServer { _ in Answer("200 OK", body: Self.body) }
    defer { server.stop() }
    let other = try TestServer { _ in Answer("200 OK", body: Self.body) }
    defer { other.stop() }
    let downloads = downloads { $0.downloadTimeoutMilliseconds = 600 }
    let deadline = ContinuousClock.now + .seconds(180)
    while true {
      let download = try downloads.start(FeedURL(server.url()))
      downloads.advance()
      // Other feeds are read meanwhile, for longer than this download may take.
      let end = ContinuousClock.now + .milliseconds(900)
      while ContinuousClock.now < end {
        let client = FeedClient(options: FeedClient.Options(version: "0"))
        _ = try FeedContents(try client.open(url: other.url()).body)
      }
      try finish(download, of: downloads)
      guard let error = failure(download) else { break }
      // On a busy machine the rest of the download may take too long. If the other time counted, no download would
      // succeed.
      try #require(error.code == .timeout && ContinuousClock.now < deadline, "\(error)")
    }
  }

  @Test func aBodyThatIsTooLongIsNotKept() throws {
    let server = try TestServer { _ in Answer("200 OK", body: Self.body) }
    defer { server.stop() }
    let downloads = downloads { $0.maximumBodyBytes = Self.body.count - 1 }
    let download = try downloads.start(FeedURL(server.url()))
    try finish(download, of: downloads)
    let error = try #require(failure(download))
    #expect(error.code == .bodyTooLarge && error.category == .badData)
  }

  @Test func aBodyThatIsTooLongAfterDecompressionIsNotRead() throws {
    var options = FeedReader.Options()
    options.maximumBytes = 10_000
    let bomb = try gzip(collection(feature()) + String(repeating: " ", count: 1_000_000))
    #expect {
      let reader = try FeedReader(source: BytesSource(bomb), name: "bomb", options: options)
      var record = EventRecord()
      while try reader.next(into: &record) != nil {}
    } throws: { ($0 as? FeedError)?.code == .bodyTooLarge }
  }

  @Test func aFailedDownloadHasTheReceivedPartOfItsBody() throws {
    let server = try TestServer { _ in
      Answer("200 OK", body: Self.body, length: Self.body.count + 9)
    }
    defer { server.stop() }
    let downloads = downloads()
    let download = try downloads.start(FeedURL(server.url()))
    try finish(download, of: downloads)
    let spool = try #require(try download.response().spool)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 10_000, alignment: 1)
    defer { buffer.deallocate() }
    #expect(try spool.read(into: buffer) == Self.body.count)
    #expect {
      try spool.read(into: buffer)
    } throws: { ($0 as? FeedError)?.code == .truncatedTransfer }
    var parts = 0
    try spool.withCompressedParts { _ in parts += 1 }
    #expect(parts > 0)
  }

  @Test func otherStatusesAreReturned() throws {
    let server = try TestServer { request in
      request.contains("If-None-Match: \"a\"")
        ? Answer(Array("HTTP/1.1 304 Not Modified\r\n\r\n".utf8))
        : Answer("404 Not Found", body: Array("<html>".utf8), length: 100, end: .hold)
    }
    defer { server.stop() }
    let downloads = downloads()
    let same = try downloads.start(FeedURL(server.url()), validators: FeedValidators(etag: "\"a\""))
    try finish(same, of: downloads)
    #expect(try same.response().isNotModified)
    // The server never finishes this body: the download must not wait for it.
    let gone = try downloads.start(FeedURL(server.url()))
    try finish(gone, of: downloads)
    #expect(failure(gone)?.status == 404)
    #expect(downloads.isEmpty)
  }

  @Test func longValidatorsAreNotKept() throws {
    let long = String(repeating: "x", count: 1025)
    let server = try TestServer { _ in
      Answer("200 OK", headers: ["ETag: \"\(long)\"", "Last-Modified: \(long)"], body: Self.body)
    }
    defer { server.stop() }
    let response = try FeedClient(options: .init(version: "0")).open(url: server.url())
    #expect(response.validators == FeedValidators())
  }
}
