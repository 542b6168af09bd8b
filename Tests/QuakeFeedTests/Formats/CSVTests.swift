import QuakeModel
import TestSupport
import Testing

@testable import QuakeFeed

@Suite struct CSVTests {
  private static let header =
    "time,latitude,longitude,depth,mag,magType,nst,gap,dmin,rms,net,id,updated,place,type,"
    + "horizontalError,depthError,magError,magNst,status,locationSource,magSource"
  private static let row =
    "2020-03-02T18:55:41.155Z,60.3682,-152.5679,111.4,1.9,ml,12,90,0.5,0.62,ak,ak0202uud729,"
    + "2020-03-02T19:01:10.162Z,\"16km SE of \"\"Redoubt\"\" Volcano, Alaska\",earthquake,,0.8,,,"
    + "automatic,ak,ak"

  @Test(arguments: ["\n", "\r\n"], ["", "\u{FEFF}"])
  func everyColumnOfCSVIsRead(lineBreak: String, mark: String) throws {
    for end in ["", lineBreak, lineBreak + lineBreak] {
      let contents = try FeedContents(mark + Self.header + lineBreak + Self.row + end)
      #expect(contents.format == .usgsCSV)
      #expect(contents.rejects.isEmpty)
      #expect(
        contents.records.map(\.values) == [
          [
            "code=ak0202uud729", "net=ak", "net_code=0202uud729", "source=usgs", "type=earthquake",
            "status=automatic", "magnitude=1.9", "magnitude_type=ml",
            "place=16km SE of \"Redoubt\" Volcano, Alaska", "time=2020-03-02T18:55:41.155Z",
            "updated=2020-03-02T19:01:10.162Z", "longitude=-152.5679", "latitude=60.3682",
            "depth=111.4", "nst=12", "dmin=0.5", "rms=0.62", "gap=90.0",
          ]
        ])
    }
  }

  @Test func onlyColumnsInTheHeaderAreRead() throws {
    let contents = try FeedContents("id,longitude,other,latitude,time\nxx1,2,,1,2020-01-01\n")
    #expect(contents.columns == [.code, .source, .time, .longitude, .latitude])
    #expect(contents.records.first?.double(.longitude) == 2)
    let full = try FeedContents(Self.header)
    #expect(full.records.isEmpty && full.rejects.isEmpty)
    for column: EventColumn in [
      .title, .url, .detail, .felt, .cdi, .mmi, .alert, .tsunami, .sig, .ids, .sources, .types,
    ] {
      #expect(!full.columns.contains(column))
    }
    #expect(full.columns.count == EventColumn.feed.count - 12)
  }

  @Test func anySizeOfPiecesGivesTheSameRecords() throws {
    let text = "\(Self.header)\r\n" + String(repeating: Self.row + "\r\n", count: 300)
    for seed in 0..<4 as Range<UInt64> {
      var random = SeededGenerator(seed)
      let source = BytesSource(
        Array(text.utf8), pieceSize: { Int.random(in: 1...(seed == 0 ? 1 : 200), using: &random) })
      let contents = try FeedContents(source)
      #expect(contents.records.count == 300)
      #expect(contents.rejects.isEmpty)
      #expect(contents.records.last?.text(.place) == "16km SE of \"Redoubt\" Volcano, Alaska")
    }
  }

  @Test(arguments: [
    ("us1,1,2", "fields"), (",1,2,2020-01-01,x,us", "no code"),
    ("us1,,2,2020-01-01,x,us", "no coordinates"), ("us1,1,2,,x,us", "no time"),
    ("us1,1,2,1970-01-01T00:00:02.-2147483648Z,x,us", "is not a date and time"),
    ("us1,91,2,2020-01-01,x,us", "latitude 91 is outside"),
    ("us1,0x1,2,2020-01-01,x,us", "is not a number"),
    ("us1,1,2,2020-01-01,\"x\"y,us", "continues after its closing quote"),
    ("us1,1,2,2020-01-01,\0,us", "contains the character NUL"),
  ])
  func badRowsAreRejected(row: String, reason: String) throws {
    let good = "us2,1,2,2020-01-01,\"x\ny\",us"
    let contents = try FeedContents(
      "id,latitude,longitude,time,place,net\n\(good)\n\(row)\n\(good)")
    #expect(contents.records.count == 2)
    let reject = try #require(contents.rejects.first)
    #expect(reject.reason.contains(reason), "\(reject.reason)")
    #expect(reject.number == 2)
    #expect(reject.line == 4)
    #expect(reject.raw == row.split(separator: "\0").joined(separator: #"\u0000"#))
  }

  @Test func anIDHasNoWhiteSpaceAroundItAndNoControlCharacter() throws {
    let contents = try FeedContents(
      """
      time,latitude,longitude,id
      2024-01-01T00:00:00Z,1,2, us1\t
      2024-01-01T00:00:00Z,1,2,us\u{1}2
      2024-01-01T00:00:00Z,1,2,us\u{7F}3
      2024-01-01T00:00:00Z,1,2,"us 4
      "
      2024-01-01T00:00:00Z,1,2," "

      """)
    #expect(contents.records.map(\.code) == ["us1", "us 4"])
    #expect(
      contents.rejects.map(\.reason) == [
        "The event's code contains a control character.",
        "The event's code contains a control character.", "The event's code is empty.",
      ])
  }

  @Test func netCodeOnlyWhereTheIdBeginsWithNet() throws {
    let contents = try FeedContents(
      "id,latitude,longitude,time,net\nus1,1,2,2020-01-01,us\nxx1,1,2,2020-01-01,us\n"
        + "us,1,2,2020-01-01,us\nus1,1,2,2020-01-01,\n")
    #expect(contents.records.map { $0.text(.netCode) } == ["1", nil, nil, nil])
  }

  @Test(arguments: [
    ("id,latitude,longitude,time\na,1,2,2020-01-01\na,1,2", FeedError.Code.truncated),
    ("id,latitude,longitude,time\na,1,\"2", .truncated),
    ("id,latitude,longitude\n", .csvHeader),
    ("id,id,latitude,longitude,time\n", .csvHeader),
    ("latitude,longitude,time\n", .csvHeader),
    ("plain text\n", .notAFeed),
    ("a,b,c\n1,2,3\n", .notAFeed),
    ("\n\n\n", .emptyBody),
  ])
  func invalidFilesAreErrors(text: String, code: FeedError.Code) {
    #expect(failure(of: text)?.code == code)
  }

  @Test func anUnclosedQuoteDoesNotFillTheMemory() {
    var options = FeedReader.Options()
    options.maximumFeatureBytes = 10_000
    let rows = String(repeating: "a,1,2,2020-01-01\n", count: 100_000)
    let text = "id,latitude,longitude,time\n\"\(rows)"
    #expect(failure(of: text, options: options)?.code == .featureTooLarge)
  }

  @Test(arguments: [
    "0", "-0", "1.5", "-1.64", "+3", "0.109999999", "123456789012345678901234567890",
    "1e22", "1e-22", "9007199254740993", "0.1e1", "5e-324", "1.7976931348623157e308", "179.9999999",
    ".5", "5.", "1E5",
  ])
  func decimalNumbersAreTheNearestDouble(text: String) {
    let value = Array(text.utf8).withUnsafeBytes(DecimalNumber.parse)
    #expect(value?.bitPattern == Double(text)?.bitPattern)
  }

  @Test func aRandomDecimalNumberIsReadExactly() {
    var random = SeededGenerator(1)
    for _ in 0..<2_000 {
      let value =
        Double(Int.random(in: -999_999_999...999_999_999, using: &random))
        / [1, 10, 1000, 1e7, 1e12].randomElement(using: &random).unsafelyUnwrapped
      let parsed = Array("\(value)".utf8).withUnsafeBytes(DecimalNumber.parse)
      #expect(parsed == value)
    }
  }

  @Test(arguments: ["", "-", ".", "e5", "1e", "1.2.3", "inf", "nan", "1 ", "0x10", "1,5", "--1"])
  func anInvalidDecimalNumberIsRefused(text: String) {
    #expect(Array(text.utf8).withUnsafeBytes(DecimalNumber.parse) == nil)
  }
}
