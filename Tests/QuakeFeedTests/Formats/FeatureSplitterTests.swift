import Basics
import Simdjson
import TestSupport
import Testing

@testable import QuakeFeed

@Suite struct FeatureSplitterTests {
  /// The features of a document that is read in pieces.
  private func split(
    _ text: String, maximumFeatureBytes: Int = 1 << 20, pieceSize: @escaping () -> Int = { .max }
  ) throws(FeedError) -> (features: [String], offsets: [Int], metadata: FeedMetadata) {
    let source = BytesSource(Array(text.utf8), pieceSize: pieceSize)
    // A small buffer, whose contents must be moved and which must grow.
    let input = InputBuffer(source, name: "feed \"test\"", capacity: 256)
    let splitter = FeatureSplitter(
      input: input, position: 0, maximumFeatureBytes: maximumFeatureBytes, parser: JSONParser())
    var features: [String] = []
    var offsets: [Int] = []
    while let feature = try splitter.next() {
      features.append(String(decoding: feature.bytes, as: UTF8.self))
      offsets.append(feature.offset)
    }
    return (features, offsets, splitter.metadata)
  }

  private func failure(
    _ text: String, maximumFeatureBytes: Int = 1 << 20, pieceSize: @escaping () -> Int = { .max }
  ) -> FeedError? {
    thrown { () throws(FeedError) in
      _ = try split(text, maximumFeatureBytes: maximumFeatureBytes, pieceSize: pieceSize)
    }
  }

  private static let features = [
    "{}",
    #"{"a":"}]{[","b":[[],[{}]]}"#,
    #"{"a":"\"}","b":"\\","c":"\\\"]","d":"\\\\\\\\"}"#,
    "{ \"long\" : \"\(String(repeating: #"x\\"#, count: 300))\" }",
    "{\"quotes\":\"\(String(repeating: #"\""#, count: 200))\"}",
    "[1,[2]]", "12", "null", #""a string, with ] and \" inside""#, "-1.5e3",
    #"{"P\u0101hala":"Pāhala ’"}"#,
  ]

  private static let layouts = [
    #"{"type":"FeatureCollection","metadata":{"count":3},"features":[%],"bbox":[1,[2],{"]":3}]}"#,
    "\n{ \"bbox\" : [ ] , \"features\" :\r\n\t[ % ]\n, \"metadata\" : { \"count\" : 3 }\n}\n\n",
    #"{"features":[%],"x":"\\\"","y":"]}","z":-1.5,"metadata":{"count":3,"title":"}\"{"}}"#,
    #"{"f\u0065atures":[%],"m\u0065tadata":{"count":3}}"#,
  ]

  @Test(arguments: layouts, [",", " ,\n  "])
  func everyLayoutGivesTheSameFeatures(layout: String, separator: String) throws {
    let parts = layout.split(separator: "%", maxSplits: 1)
    let text = parts[0] + Self.features.joined(separator: separator) + parts[1]
    let whole = try split(String(text))
    #expect(whole.features == Self.features)
    #expect(whole.metadata.count == 3)
    let bytes = Array(text.utf8)
    for (feature, offset) in zip(whole.features, whole.offsets) {
      #expect(bytes[offset...].starts(with: feature.utf8))
    }
    let byByte = try split(String(text), pieceSize: { 1 })
    #expect(byByte.features == Self.features)
    #expect(byByte.offsets == whole.offsets)
    for seed in 0..<8 as Range<UInt64> {
      var random = SeededGenerator(seed)
      let limit = [3, 64, 70, 300][Int(seed) % 4]
      let pieces = try split(String(text), pieceSize: { Int.random(in: 1...limit, using: &random) })
      #expect(pieces.features == Self.features, "seed \(seed)")
      #expect(pieces.offsets == whole.offsets)
      #expect(pieces.metadata == whole.metadata)
    }
  }

  @Test func backslashesAndQuotesAtEveryPlaceInABlock() throws {
    for padding in 0..<70 {
      for tail in [#"\""#, #"\\"#, #"\\\""#, #"\\\\"#, "]}"] {
        let feature = "{\"\(String(repeating: "x", count: padding))\(tail)\":1}"
        let result = try split("{\"features\":[\(feature),\(feature)]}", pieceSize: { 64 })
        #expect(result.features == [feature, feature])
      }
    }
  }

  @Test func aSingleFeatureIsACollectionOfOne() throws {
    let text =
      "{\"id\":\"\(String(repeating: "a", count: 1000))\",\"type\":\"Feature\",\"geometry\":{}}"
    #expect(try split(text).features == [text])
    #expect(try split(" \n\(text)\n ", pieceSize: { 1 }).features == [text])
    #expect(failure(text, maximumFeatureBytes: 500)?.code == .featureTooLarge)
  }

  @Test(arguments: [
    (#"{"type":"FeatureCollection"}"#, FeedError.Code.missingFeatures),
    ("{}", .missingFeatures),
    (#"{"features":{}}"#, .featuresNotArray),
    (#"{"features":null}"#, .featuresNotArray),
    (#"{"features":[]} x"#, .trailingData),
    (#"{"features":[]}{}"#, .trailingData),
    ("[]", .notAFeed),
    ("12", .notAFeed),
    (#"{"features":[{},]}"#, .invalidJSON),
    (#"{"features":[,{}]}"#, .invalidJSON),
    (#"{"features":[{} {}]}"#, .invalidJSON),
    (#"{"features":[{}],}"#, .invalidJSON),
    (#"{"features" [{}]}"#, .invalidJSON),
    (#"{"a":,"features":[]}"#, .invalidJSON),
    (#"{features:[]}"#, .invalidJSON),
    (#"{"metadata":{nope},"features":[]}"#, .invalidJSON),
    ("", .emptyBody),
    ("  \n ", .emptyBody),
  ])
  func eachKindOfInvalidDocumentHasItsOwnError(text: String, code: FeedError.Code) {
    #expect(failure(text)?.code == code)
    #expect(failure(text, pieceSize: { 1 })?.code == code)
    #expect(failure(text)?.category == .badData)
  }

  @Test func everyTruncationIsAnError() {
    let text = #"{"a":"\\","metadata":{"count":1},"features":[{"b":"]"},1],"c":[2]}"#
    for count in 1..<text.utf8.count {
      #expect(failure(String(text.prefix(count)))?.code == .truncated, "\(count) bytes")
      #expect(failure(String(text.prefix(count)), pieceSize: { 1 })?.code == .truncated)
    }
  }

  @Test func aTooLargeFeatureIsNamed() throws {
    let large = "{\"a\":\"\(String(repeating: "x", count: 2000))\"}"
    let text = "{\"features\":[{},{},\(large)]}"
    let error = try #require(failure(text, maximumFeatureBytes: 1000))
    #expect(error.code == .featureTooLarge)
    #expect(error.message == "feature 3 of feed \"test\" is too large")
    #expect(error.detail == "A feature may have 1000 bytes. At byte 19, line 1.")
    #expect(failure(text, maximumFeatureBytes: large.utf8.count) == nil)
    #expect(failure(text, maximumFeatureBytes: large.utf8.count - 1)?.code == .featureTooLarge)
    for value in [
      "\"\(String(repeating: "y", count: 2000))\"", String(repeating: "1", count: 2000),
    ] {
      #expect(
        failure("{\"features\":[\(value)]}", maximumFeatureBytes: 1000)?.code == .featureTooLarge)
    }
  }

  @Test func nestingIsLimitedWithinAFeatureOnly() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(failure("{\"features\":[\(nested(64))]}") == nil)
    #expect(failure("{\"features\":[\(nested(65))]}")?.code == .nestingTooDeep)
    #expect(failure("{\"x\":\(nested(5000)),\"features\":[]}") == nil)
  }

  @Test func theSizeOfTheMetadataIsLimited() {
    let large = String(repeating: "x", count: 64 * 1024)
    #expect(
      failure("{\"metadata\":{\"title\":\"\(large)\"},\"features\":[]}")?.code == .metadataTooLarge)
    #expect(failure("{\"other\":{\"title\":\"\(large)\"},\"features\":[]}") == nil)
  }

  @Test func errorsNameTheLine() throws {
    let text = "{\n\"features\": [\n{},\n{}\n{}\n]}"
    let error = try #require(failure(text, pieceSize: { 1 }))
    #expect(error.detail?.hasSuffix("At byte 23, line 5.") == true)
    let far = "{\"a\":[\(String(repeating: "\n", count: 5000))],\"features\":[{} {}]}"
    #expect(try #require(failure(far)?.detail).hasSuffix("line 5001."))
  }

  @Test func memoryIsBoundedByTheLargestFeature() throws {
    let feature = "{\"a\":\"\(String(repeating: "x", count: 300))\"}"
    let features = Array(repeating: feature, count: 5000).joined(separator: ",")
    let source = BytesSource(Array("{\"features\":[\(features)]}".utf8))
    let input = InputBuffer(source, name: "test", capacity: 256)
    let splitter = FeatureSplitter(
      input: input, position: 0, maximumFeatureBytes: 1000, parser: JSONParser())
    while try splitter.next() != nil {}
    #expect(splitter.featureCount == 5000)
    #expect(input.capacity <= 1024)
  }
}
