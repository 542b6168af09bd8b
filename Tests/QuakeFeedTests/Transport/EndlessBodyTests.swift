import Testing

@testable import QuakeFeed

/// Bodies that would keep their reader busy for ever.
@Suite struct EndlessBodyTests {
  /// The same bytes again and again, without an end.
  private final class EndlessSource: ByteSource {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      let count = min(buffer.count, bytes.count - position)
      buffer.copyBytes(from: bytes[position..<(position + count)])
      position = (position + count) % bytes.count
      return count
    }
  }

  /// The error in which reading ends.
  private func end(of source: any ByteSource, atMost bytes: Int? = nil) -> FeedError {
    let body = DecompressingSource(source, name: "body", limit: bytes)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      do throws(FeedError) { _ = try body.read(into: buffer) } catch { return error }
    }
  }

  @Test func aBodyThatNeverBecomesAByteEnds() throws {
    // Members and frames without content, and a name without an end: a reader never gets a byte.
    let member = try gzip([])
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58, 0x01, 0x00, 0x00]
    let named: [UInt8] = [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3]
    let sources: [any ByteSource] = [
      EndlessSource(member), EndlessSource(frame),
      PrefixedSource(prefix: named, source: EndlessSource([0x41])),
      PrefixedSource(prefix: try gzip(collection(feature())), source: EndlessSource(member)),
    ]
    for source in sources {
      let error = end(of: source)
      #expect(error.code == .bodyTooLarge && error.message.contains("become"), "\(error)")
    }
    #expect(failure(of: EndlessSource(member))?.code == .bodyTooLarge)
    // A few of them are in files that were joined.
    let joined = Array(repeating: member, count: 1000).flatMap { $0 }
    let contents = try FeedContents(BytesSource(joined + gzip(collection(feature())) + joined))
    #expect(contents.records.count == 1)
  }

  @Test func aBodyWithoutEventsEnds() throws {
    var options = FeedReader.Options()
    options.longestGap = 20_000
    let start = #"{"type":"FeatureCollection","features":["#
    let line = #"{"code":"us1","time":"2024-01-31T00:00:00Z","longitude":1,"latitude":2}"# + "\n"
    let bodies: [(start: String, rest: String)] = [
      ("", " "), ("", "\n"), (start, " "), (start + feature(), "\n"), (collection(), "\t"),
      (collection(feature()), " "), ("{\"x\":[", "[],"), ("{\"x\":\"", "a"), (line, "\n"),
      ("time,latitude,longitude,depth,mag,id\n", "\n"),
      ("#EventID|Time|Latitude|Longitude|Depth/km|Author\n", "\r\n"),
      ("<?xml version=\"1.0\"?>", "\n"), ("<q:quakeml xmlns:q=\"http://quakeml.org/x\">", "<a/>"),
    ]
    for (start, rest) in bodies {
      let source = PrefixedSource(
        prefix: Array(start.utf8),
        source: EndlessSource(Array(String(repeating: rest, count: 1000).utf8)))
      let error = failure(of: source, options: options)
      #expect(error?.code == .bodyTooLarge, "\(start) \(rest): \(String(describing: error))")
      #expect(error?.message.contains("no event") == true, "\(start) \(rest)")
    }
    // Each event begins anew.
    let spaces = String(repeating: " ", count: 150_000)
    let body = spaces + collection(feature() + spaces, feature() + spaces) + spaces
    options.longestGap = body.utf8.count / 2
    #expect(try FeedContents(body, options: options).records.count == 2)
  }

  @Test func answersWithoutAnEndBeforeTheAnswerEnd() throws {
    let interim = Array(repeating: Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), count: 2000)
    let fields =
      Array("HTTP/1.1 200 OK\r\n".utf8)
      + Array(repeating: Array("X: 1\r\n".utf8), count: 60_000).flatMap { $0 }
    for (head, words) in [
      (interim.flatMap { $0 }, "interim answers"), (fields, "head of the answer"),
    ] {
      // It holds the connection open, and would be waited for.
      let server = try TestServer { _ in TestServer.Answer(head, end: .hold) }
      defer { server.stop() }
      let error = #expect(throws: FeedError.self) {
        try FeedClient(options: FeedClient.Options(version: "0")).open(url: server.url())
      }
      #expect(
        error?.code == .network && error?.detail?.contains(words) == true, "\(words): \(error)")
    }
    let few = Array(interim.prefix(20).flatMap { $0 })
    let server = try TestServer { _ in
      TestServer.Answer(few + TestServer.Answer("200 OK", body: Array(collection().utf8)).bytes)
    }
    defer { server.stop() }
    let response = try FeedClient(options: FeedClient.Options(version: "0")).open(url: server.url())
    #expect(try FeedContents(response.body).records.isEmpty)
  }

  @Test func aBodyThatExpandsTooMuchEnds() throws {
    let spaces = [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20)
    let bomb = try gzip(spaces)
    #expect(bomb.count < spaces.count / DecompressingSource.mostExpansion)
    let error = end(of: EndlessSource(bomb))
    #expect(error.code == .bodyTooLarge && error.message.contains("expands too much"))
    // So does a body that was compressed twice.
    let twice = try gzip(Array(repeating: bomb, count: 20).flatMap { $0 })
    let outer = DecompressingSource(EndlessSource(twice), name: "outer")
    #expect(end(of: outer).code == .bodyTooLarge)
  }

  @Test func theTimeOfAnImportCountsTheWorkOfItsReader() throws {
    let server = try TestServer { _ in
      TestServer.Answer("200 OK", body: Array(collection().utf8), length: 1 << 40, end: .drip)
    }
    defer { server.stop() }
    var options = FeedClient.Options(version: "0")
    options.totalTimeoutMilliseconds = 100
    let response = try FeedClient(options: options).open(url: server.url())
    // It ends although the server never stalls, and whatever its reader does between two reads.
    let error = try #require(failure(of: response.body))
    #expect(error.code == .timeout && error.message.contains("in time"), "\(error)")
  }
}
