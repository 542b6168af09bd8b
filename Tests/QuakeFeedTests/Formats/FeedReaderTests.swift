import Basics
import Glibc
import QuakeModel
import TestSupport
import Testing

@testable import QuakeFeed

@Suite struct FeedReaderTests {
  @Test(arguments: [
    ("<!DOCTYPE html><html></html>", FeedError.Code.html),
    ("\n  <HTML><body>Log in</body></HTML>", .html),
    ("<p>no", .html),
    ("<html><head><meta http-equiv=\"refresh\" content=\"0; url=/a\"></head></html>", .html),
    ("<!-- portal --><!DOCTYPE html><html></html>", .html),
    ("<?xml version=\"1.0\"?><html xmlns=\"x\">", .html),
    ("<?xml version=\"1.0\"?><q:quakeml>", .truncated),
    ("<?xml version=\"1.0\"?><rss/>", .unsupportedFormat),
    ("<kml/>", .unsupportedFormat),
    ("<feed xmlns=\"http://www.w3.org/2005/Atom\"/>", .unsupportedFormat),
    ("#EventID|Time|Latitude|Longitude\n1|2\n", .unknownCentre),
    ("", .emptyBody), ("\u{FEFF}", .emptyBody), (" \n\t", .emptyBody),
    ("[1]", .notAFeed), ("hello", .notAFeed), ("\u{1}\u{2}\u{3}", .notAFeed),
    ("x\u{9C}compressed with deflate", .notAFeed), ("\u{B}\u{2}\u{3}", .notAFeed),
    ("Error 503: overloaded", .notAFeed),
  ])
  func eachKindOfInvalidInputHasItsOwnError(text: String, code: FeedError.Code) throws {
    let error = try #require(failure(of: text))
    #expect(error.code == code)
    #expect(error.category == (code == .unknownCentre ? .usage : .badData))
    #expect(error.message.first?.isLowercase == true)
    #expect(!error.message.hasSuffix("."))
    #expect(error.detail?.hasSuffix(".") == true)
    #expect(failure(of: BytesSource(Array(text.utf8), pieceSize: { 1 }))?.code == code)
  }

  @Test func aLineThatHasNotTheMembersOfTheFirstIsRejectedWithTheReason() throws {
    func line(_ code: String, _ rest: String) -> String {
      #"{"code":"\#(code)","time":"2026-01-01T00:00:00Z","longitude":1,"latitude":2"# + rest + "}\n"
    }
    let contents = try FeedContents(
      line("a", #","magnitude":1"#) + line("b", #","magnitude":2,"place":"P""#) + line("c", "")
        + line("d", #","magnitude":null,"other":5"#))
    #expect(contents.format == .ndjson)
    #expect(contents.records.map(\.code) == ["a", "d"])
    #expect(
      contents.rejects.map(\.reason) == [
        "The line has a member that the first line lacks.",
        "The line lacks a member that the first line has.",
      ])
  }

  @Test(arguments: [
    "time,latitude,longitude,id\r2024-01-01T00:00:00Z,1,2,us1\r",
    FDSNTextTests.header + "\r1|2024-01-01T00:00:00|1|2|3||||||||\r",
  ])
  func linesThatEndWithCarriageReturnsAloneAreAnError(text: String) throws {
    let error = try #require(failure(of: text))
    #expect(error.code == .csvHeader)
    #expect(error.detail?.hasPrefix("Its lines end with carriage returns alone.") == true)
  }

  /// Services report errors with HTTP status 200, too.
  @Test(
    arguments: [
      (#"{"type":"FeatureCollection","metadata":{"status":503},"features":[]}"#, 503, nil),
      (#"{"metadata":{"status":"400","error":"bad"},"features":[]}"#, 400, "bad"),
      (#"{"metadata":{"status":400,"error":"bad"},"features":[]}"#, 400, "bad"),
      (#"{"metadata":{"status":200,"error":"down"},"features":[]}"#, 200, "down"),
      (#"{"features":[],"metadata":{"status":500}}"#, 500, nil),
      (#"{"error":"rate limit exceeded"}"#, nil, #""rate limit exceeded""#),
      (#"{"features":[],"error":{"code":7}}"#, nil, #"{"code":7}"#),
      (#"{"error":true,"features":[]}"#, nil, "true"),
    ] as [(String, Int?, String?)])
  func anErrorDocumentIsNoFeed(text: String, status: Int?, answer: String?) throws {
    let error = try #require(failure(of: text))
    #expect(error.code == .errorDocument && error.category == .badData)
    #expect(error.status == status && error.answer == answer)
    #expect(error.message.hasSuffix("is an error message of the service, not a feed"))
    #expect(failure(of: BytesSource(Array(text.utf8), pieceSize: { 1 }))?.code == .errorDocument)
  }

  @Test(arguments: [
    #"{"error":null,"features":[]}"#, #"{"error":"","features":[]}"#,
    #"{"error":false,"features":[]}"#, #"{"error":[],"features":[]}"#,
    #"{"metadata":{"status":200,"error":null},"features":[]}"#,
    #"{"metadata":{"status":"ok","error":false},"features":[]}"#,
  ])
  func aFeedMaySayThatThereIsNoError(text: String) throws {
    #expect(failure(of: text) == nil)
  }

  @Test(arguments: [
    ("No events were found.\n", true), ("Error 404: no data", true), ("nothing found", true),
    ("0 events", true), ("1000 matching events exceeds search limit", false),
    ("hello", false), ("Error 400: Bad Request\n\nno such parameter", false),
  ])
  func aSentenceMaySayThatThereIsNoData(text: String, says: Bool) throws {
    let error = try #require(failure(of: text))
    #expect(error.code == .notAFeed && error.saysNoData == says)
  }

  @Test func aByteOrderMarkAndSpacesAreSkipped() throws {
    let text = "\u{FEFF}\(String(repeating: " ", count: 5000))\n\(collection(feature()))\n"
    #expect(try FeedContents(text).records.count == 1)
    #expect(try FeedContents("\u{FEFF}" + collection()).format == .usgsGeoJSON)
  }

  @Test func aPipeIsReadAndCanBeInterrupted() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let bytes = Array(collection(feature()).utf8)
    try #require(write(ends[1], bytes, bytes.count) == bytes.count)
    var asked = 0
    let source = FileDescriptorSource(descriptor: ends[0], closes: true, name: "pipe") {
      asked += 1
      return asked > 4
    }
    // The writing end stays open, so the input has no end.
    let error = failure(of: source)
    close(ends[1])
    #expect(error?.code == .interrupted)
    #expect(error?.category == .interrupted)
  }

  /// A terminal is at its end once for each Ctrl-D, like this file, which grows after its end was read.
  @Test func theEndOfTheInputIsFinal() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("file", "")
    let descriptor = open(path, O_RDWR)
    try #require(descriptor >= 0)
    let source = FileDescriptorSource(descriptor: descriptor, closes: true, name: "file")
    var bytes: [UInt8] = [0, 0]
    func read() throws -> Int {
      try bytes.withUnsafeMutableBytes { try source.read(into: $0) }
    }
    #expect(try read() == 0)
    try #require(write(descriptor, bytes, 2) == 2)
    try #require(lseek(descriptor, 0, SEEK_SET) == 0)
    #expect(try read() == 0)
  }

  @Test func theShareOfAFileBeginsAtItsPosition() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("file", "0123456789")
    let descriptor = open(path, O_RDONLY)
    try #require(descriptor >= 0 && lseek(descriptor, 4, SEEK_SET) == 4)
    let file = FileDescriptorSource(descriptor: descriptor, closes: true, name: "file").measured
    #expect(file.share == 0)
    var bytes: [UInt8] = [0, 0, 0]
    #expect(try bytes.withUnsafeMutableBytes { try file.read(into: $0) } == 3)
    #expect(file.share == 0.5)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[1])
    let source = FileDescriptorSource(descriptor: ends[0], closes: true, name: "pipe").measured
    #expect(source.share == nil)
  }
}
