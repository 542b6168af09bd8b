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
    // Members and frames without content: a reader never gets a byte.
    let member = try gzip([])
    #expect(end(of: EndlessSource(member), atMost: 1 << 20).code == .bodyTooLarge)
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58, 0x01, 0x00, 0x00]
    #expect(end(of: EndlessSource(frame), atMost: 1 << 20).code == .bodyTooLarge)
    // The reader of a feed passes its limit on.
    var options = FeedReader.Options()
    options.maximumBytes = 1 << 20
    #expect(failure(of: EndlessSource(member), options: options)?.code == .bodyTooLarge)
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
