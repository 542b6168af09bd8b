import QuakeModel
import Testing

@testable import QuakeFeed

@Suite struct GeoJSONTests {
  @Test func everyPropertyHasItsColumn() throws {
    let text = collection(
      #"""
      {"type":"Feature","properties":{"mag":5,"place":"4 km E of Pāhala, Hawaii ",
      "time":1597253402214,"updated":1597258017041,"tz":null,"url":"u","detail":"d","felt":12.0,
      "cdi":3.4,"mmi":4.5,"alert":"green","status":"REVIEWED","tsunami":1,"sig":385,"net":"us",
      "code":"6000bdgz","ids":",us6000bdgz,","sources":",us,","types":",origin,","nst":20,
      "dmin":4.675,"rms":0.67,"gap":97,"magType":"Mb","type":"quarry blast","title":"M 5.0"},
      "geometry":{"type":"Point","coordinates":[154.8063,48.81,45.86]},"id":"us6000bdgz"}
      """#)
    let contents = try FeedContents(text)
    let record = try #require(contents.records.first)
    #expect(contents.rejects.isEmpty)
    #expect(contents.format == .usgsGeoJSON)
    #expect(contents.columns == EventColumn.feed)
    #expect(
      record.values == [
        "code=us6000bdgz", "net=us", "net_code=6000bdgz", "source=usgs", "type=quarry blast",
        "status=REVIEWED", "magnitude=5.0", "magnitude_type=Mb",
        "place=4 km E of Pāhala, Hawaii ", "time=2020-08-12T17:30:02.214Z",
        "updated=2020-08-12T18:46:57.041Z", "longitude=154.8063", "latitude=48.81",
        "depth=45.86", "title=M 5.0", "url=u", "detail=d", "felt=12", "cdi=3.4", "mmi=4.5",
        "alert=green", "tsunami=1", "sig=385", "nst=20", "dmin=4.675", "rms=0.67", "gap=97.0",
        "ids=,us6000bdgz,", "sources=,us,", "types=,origin,",
      ])
  }

  @Test func unusualEventsAreRead() throws {
    let contents = try FeedContents(
      collection(
        feature(id: "1234", time: "1500000000000.25", coordinates: "[1.5,2,-3.25]", #""mag":0"#),
        feature(id: "12.0", coordinates: "[180,-90,null]", #""mag":1,"mag":null,"place":null"#),
        feature(
          id: #""ü""#, time: "-62135596800000", coordinates: "[-180,90]",
          #""felt":2147483647,"tsunami":-32768,"unknown":{"a":[1]},"title":"""#)))
    #expect(contents.rejects.isEmpty)
    #expect(
      contents.records.map(\.values) == [
        [
          "code=1234", "source=usgs", "magnitude=0.0", "time=2017-07-14T02:40:00.000250Z",
          "longitude=1.5", "latitude=2.0", "depth=-3.25",
        ],
        [
          "code=12.0", "source=usgs", "time=1970-01-01T00:00:01.000Z", "longitude=180.0",
          "latitude=-90.0",
        ],
        [
          "code=ü", "source=usgs", "time=0001-01-01T00:00:00.000Z", "longitude=-180.0",
          "latitude=90.0", "title=", "felt=2147483647",
        ],
      ])
  }

  @Test(arguments: [
    (#"{"type":"Feature","properties":{"time":1},"geometry":{"coordinates":[1,2]}}"#, "no code"),
    (feature(id: #""""#), "code is empty"),
    (feature(id: "\"\(String(repeating: "x", count: 257))\""), "code is too long"),
    (feature(id: "[1]"), "code is not a string or a number but an array"),
    (feature(time: "null"), "no time"),
    (feature(time: #""2020-01-01""#), "time is not a number of milliseconds but a string"),
    (feature(time: "253402300800000"), "time is not within the years 1 to 9999"),
    (feature(time: "-62135596800001"), "time is not within the years 1 to 9999"),
    (feature(time: "18446744073709551615"), "time is not within"),
    (feature(#""updated":1e300"#), "updated is not within"),
    (feature(coordinates: "null"), "coordinates are not an array but null"),
    (feature(coordinates: "[1]"), "no coordinates"),
    (feature(coordinates: "[null,2]"), "longitude is not a number but null"),
    (feature(coordinates: "[360.1,2]"), "longitude 360.1 is outside -180 to 360"),
    (feature(coordinates: "[1,-90.5]"), "latitude -90.5 is outside -90 to 90"),
    (feature(coordinates: "[1,2,-101]"), "depth -101 is outside -100 to 7000"),
    (feature(coordinates: "[1,2,7001]"), "depth 7001 is outside"),
    (feature(#""mag":12.1"#), "magnitude 12.1 is outside -5 to 12"),
    (feature(#""mag":true"#), "magnitude is not a number but true or false"),
    (feature(#""mag":1e999"#), "not valid JSON"),
    (feature(#""felt":1.5"#), "felt is not a whole number but 1.5"),
    (feature(#""nst":2147483648"#), "nst 2147483648 is too large a number"),
    (feature(#""tsunami":32768"#), "tsunami 32768 is too large a number"),
    (feature(#""place":5"#), "place is not a string but 5"),
    (feature(#""place":"a\u0000b""#), "place contains the character NUL"),
    (
      feature("\"place\":\"\(String(repeating: "x", count: 65537))\""),
      "place is too long: 65537 bytes, where 65536 are allowed"
    ),
    (
      feature("\"net\":\"\(String(repeating: "x", count: 1025))\""),
      "net is too long: 1025 bytes, where 1024 are allowed"
    ),
    (
      feature("\"ids\":\",a,\(String(repeating: "x", count: 257)),\""),
      "ids is too long: 257 bytes, where 256 are allowed"
    ),
    (feature(#""place":"\ud800""#), "not valid JSON"),
    (feature("\"place\":\"a\nb\""), "not valid JSON"),
    (#"{"a":[}]"#, "not valid JSON"), ("nonsense", "not valid JSON"),
    ("12", "not an object but a number"), ("[]", "not an object but an array"),
    (#"{"properties":5,"id":"a"}"#, "properties are not an object"),
    (#"{"geometry":null,"properties":{"time":1},"id":"a"}"#, "no coordinates"),
  ])
  func badEventsAreRejectedAndTheOthersAreRead(text: String, reason: String) throws {
    let good = feature(id: #""good""#)
    let contents = try FeedContents(collection(good, text, good))
    #expect(contents.records.count == 2)
    let reject = try #require(contents.rejects.first)
    #expect(contents.rejects.count == 1)
    #expect(reject.reason.contains(reason), "\(reject.reason)")
    #expect(reject.reason.hasSuffix(".") || reason.contains("JSON"))
    #expect(reject.number == 2)
    #expect(reject.line == 1)
    #expect(Array(collection(good, text, good).utf8)[reject.byteOffset...].starts(with: text.utf8))
    #expect(text.hasPrefix(reject.raw))
    #expect(contents.recordsSeen == 3)
  }

  @Test func anIDHasNoWhiteSpaceAroundItAndNoControlCharacter() throws {
    let contents = try FeedContents(
      collection(
        feature(id: #"" us1\t""#, #""ids":", us1\t,ci 1 ,","code":"1""#),
        feature(id: #""us\u001f2""#), feature(id: #""\n ""#)))
    #expect(contents.records.map(\.code) == ["us1"])
    #expect(contents.records.map { $0.text(.ids) } == [",us1,ci 1,"])
    #expect(
      contents.rejects.map(\.reason) == [
        "The event's code contains a control character.", "The event's code is empty.",
      ])
  }

  @Test func aRejectHasTheCodeThatFollowsTheInvalidValue() throws {
    let contents = try FeedContents(
      collection(
        #"{"properties":{"time":1,"gap":"wide"},"geometry":{"coordinates":[1,2]},"id":"us1"}"#,
        #"{"properties":{"time":1},"geometry":{"coordinates":[1,95]},"id":"us2"}"#,
        #"{"properties":{},"geometry":{"coordinates":[1,2]},"id":"us3"}"#))
    #expect(contents.records.isEmpty)
    #expect(contents.rejects.map(\.code) == ["us1", "us2", "us3"])
  }

  @Test func invalidUTF8RejectsOneEvent() throws {
    var bytes = Array(collection(feature(#""place":"@""#), feature()).utf8)
    let place = try #require(bytes.firstIndex(of: UInt8(ascii: "@")))
    bytes[place] = 0xFF
    let contents = try FeedContents(BytesSource(bytes))
    #expect(contents.records.count == 1)
    #expect(contents.rejects.map(\.reason) == ["It is not valid UTF-8."])
    #expect(contents.rejects[0].raw.contains("\u{FFFD}"))
  }

  @Test func aRejectsTextIsBoundedAndHoldsNoNUL() {
    let bytes = [UInt8](repeating: 0, count: 100_000)
    let text = bytes.withUnsafeBytes(FeedReject.text)
    #expect(text.utf8.count <= FeedReject.maximumRawBytes)
    #expect(text.hasPrefix(#"\u0000\u0000"#))
    let accents = Array(String(repeating: "ā", count: 50_000).utf8) + [0xFF]
    let cut = ([UInt8(ascii: "x")] + accents).withUnsafeBytes(FeedReject.text)
    #expect(cut.utf8.count == FeedReject.maximumRawBytes - 1)
    #expect(!cut.contains("\u{FFFD}"))
  }

  @Test func strictReadingRequiresMagnitudeAndPlace() throws {
    var options = FeedReader.Options()
    options.strict = true
    let contents = try FeedContents(
      collection(
        feature(#""mag":0,"place":"x""#), feature(#""mag":0"#), feature(#""place":"x""#)),
      options: options)
    #expect(contents.records.count == 1)
    #expect(contents.rejects.map(\.number) == [2, 3])
    #expect(contents.rejects[0].code == "us1")
    #expect(contents.rejects[0].reason.contains("place"))
    #expect(contents.rejects[1].reason.contains("magnitude"))
  }

  @Test func metadataBeforeAndAfter() throws {
    let metadata = #""metadata":{"generated":1374338016000,"title":"T","status":200,"count":1}"#
    for text in [
      #"{\#(metadata),"features":[\#(feature())]}"#, #"{"features":[\#(feature())],\#(metadata)}"#,
    ] {
      let contents = try FeedContents(text)
      #expect(contents.metadata.generated?.microseconds == 1_374_338_016_000_000)
      #expect(contents.metadata.status == 200)
      #expect(contents.metadata.count == 1)
    }
    let odd = #"{"metadata":{"generated":"x","title":5,"count":1.5},"features":[]}"#
    #expect(try FeedContents(odd).metadata == FeedMetadata())
  }
}
