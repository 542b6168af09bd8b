import Testing

@testable import QuakeServer

@Suite struct DocumentWriterTests {
  @Test(arguments: [10, 1_000_000])
  func aWriterReplacesWhatItHasWrittenInMemoryAndInAFile(size: Int) throws {
    var writer = DocumentWriter(contentType: "text/plain")
    try writer.write("[12345]")
    try writer.write(String(repeating: "x", count: size))
    try writer.replace(1..<6, with: Array("9".utf8))
    let document = writer.finish()
    var bytes: [UInt8] = []
    try document.withParts { bytes += $0 }
    #expect(bytes.count == document.size)
    // The rest of a file cannot move.
    let begin = size == 10 ? "[9]xx" : "[9    ]xx"
    #expect(String(decoding: bytes.prefix(begin.utf8.count), as: UTF8.self) == begin)
    #expect(document.size == size + begin.utf8.count - 2)
  }

  @Test func documentsInFilesHaveALimitTogether() throws {
    let space = DocumentSpace(most: 1 << 20)
    func made(_ size: Int) throws -> Document {
      var writer = DocumentWriter(contentType: "text/plain", space: space)
      for _ in 0..<(size >> 16) { try writer.write([UInt8](repeating: 65, count: 1 << 16)) }
      return writer.finish()
    }
    var first: Document? = try made(600 << 10)
    #expect(throws: HTTPError.self) { try made(600 << 10) }
    // What stays in memory needs no file.
    _ = try made(128 << 10)
    #expect(first != nil)
    first = nil
    _ = try made(600 << 10)
  }
}
