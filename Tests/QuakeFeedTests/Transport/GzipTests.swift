import Basics
import CCompression
import Foundation
import TestSupport
import Testing

@testable import QuakeFeed

@Suite struct GzipTests {
  private static let text = collection(
    (0..<300).map { feature(id: #""us\#($0)""#, #""mag":\#($0 % 7).5"#) }.joined(separator: ","))

  @Test func aCompressedFeedReadsLikeAPlainOne() throws {
    let contents = try FeedContents(BytesSource(try gzip(Self.text)))
    #expect(contents.records.count == 300)
    #expect(contents.bytesRead == Self.text.utf8.count)
    let byByte = try FeedContents(BytesSource(try gzip(Self.text), pieceSize: { 1 }))
    #expect(byByte.records.count == 300)
  }

  @Test func aFileMayHaveSeveralMembers() throws {
    let half = Self.text.utf8.count / 2
    let first = Array(Self.text.utf8.prefix(half))
    let bytes = try gzip(first) + gzip([]) + gzip(Array(Self.text.utf8.dropFirst(half)))
    #expect(try FeedContents(BytesSource(bytes)).records.count == 300)
    #expect(try FeedContents(BytesSource(bytes, pieceSize: { 3 })).records.count == 300)
  }

  @Test func truncatedDataAreAnError() throws {
    let bytes = try gzip(Self.text)
    for count in [2, 9, 10, 11, 50, bytes.count / 2, bytes.count - 8, bytes.count - 1] {
      let error = failure(of: BytesSource(Array(bytes.prefix(count))))
      #expect(error?.code == .truncatedGzip, "\(count) bytes")
      #expect(error?.message == "the gzip data of feed \"test\" are truncated")
      #expect(error?.category == .badData)
    }
  }

  @Test func damagedDataAreAnError() throws {
    let bytes = try gzip(Self.text)
    var damaged = bytes
    damaged[bytes.count - 5] ^= 0xFF  // the checksum
    #expect(failure(of: BytesSource(damaged))?.code == .corruptGzip)
    damaged = bytes
    for index in 20..<60 { damaged[index] = 0xFF }
    #expect(failure(of: BytesSource(damaged))?.code == .corruptGzip)
    #expect(failure(of: BytesSource(bytes + [1, 2, 3]))?.code == .corruptGzip)
    #expect(failure(of: BytesSource(bytes + [0x1F, 0]))?.code == .corruptGzip)
  }
}

/// Compresses through a temporary file: Swift can call zlib's file functions, but not its macros.
func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
  let folder = try TemporaryFolder()
  let path = folder.path + "/bytes.gz"
  let file = try #require(gzopen(path, "wb"))
  if !bytes.isEmpty {
    try #require(gzwrite(file, bytes, UInt32(bytes.count)) == Int32(bytes.count))
  }
  try #require(gzclose(file) == Z_OK)
  return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
}

func gzip(_ text: String) throws -> [UInt8] {
  try gzip(Array(text.utf8))
}
