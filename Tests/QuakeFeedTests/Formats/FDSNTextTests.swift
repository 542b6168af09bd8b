import QuakeModel
import TestSupport
import Testing

@testable import QuakeFeed

@Suite struct FDSNTextTests {
  static let header =
    "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType"
    + "|Magnitude|MagAuthor|EventLocationName"

  static func options(_ centre: String, strict: Bool = false) -> FeedReader.Options {
    var options = FeedReader.Options()
    options.centre = DataCentre(name: centre)
    options.strict = strict
    return options
  }

  private func contents(
    _ rows: String..., header: String = header, centre: String = "emsc"
  ) throws -> FeedContents {
    try FeedContents(
      header + "\n" + rows.joined(separator: "\n") + "\n", options: Self.options(centre))
  }

  private static let emsc =
    "20230701_0000038|2023-07-01T03:29:25.534Z|-31.7703|-68.7812|30.3|NEIC|EMSC-RTS|NEIC|1522821"
    + "|mb|5.3|NEIC|SAN JUAN, ARGENTINA"

  @Test(arguments: ["\n", "\r\n"], ["", "\u{FEFF}"])
  func everyColumnOfFDSNTextIsRead(lineBreak: String, mark: String) throws {
    for end in ["", lineBreak, lineBreak + lineBreak] {
      let text = mark + Self.header + lineBreak + Self.emsc + end
      for pieces in [Int.max, 1] {
        let contents = try FeedContents(
          BytesSource(Array(text.utf8), pieceSize: { pieces }), options: Self.options("emsc"))
        #expect(contents.format == .fdsnText)
        #expect(
          contents.columns == [
            .code, .net, .netCode, .source, .magnitude, .magnitudeType, .place, .time, .longitude,
            .latitude, .depth,
          ])
        #expect(contents.rejects.isEmpty)
        // The depth is positive downwards, unlike the third coordinate of EMSC's GeoJSON.
        #expect(
          contents.records.map(\.values) == [
            [
              "code=emsc:20230701_0000038", "net=NEIC", "net_code=20230701_0000038", "source=emsc",
              "magnitude=5.3", "magnitude_type=mb", "place=SAN JUAN, ARGENTINA",
              "time=2023-07-01T03:29:25.534Z", "longitude=-68.7812", "latitude=-31.7703",
              "depth=30.3",
            ]
          ])
      }
    }
  }

  @Test func anEventIsTheSameInBothOfEMSCsFormats() throws {
    let json = try FeedContents(
      collection(
        #"""
        {"type":"Feature","geometry":{"type":"Point","coordinates":[-68.7812,-31.7703,-30.3]},
        "id":"20230701_0000038","properties":{"source_id":"1522821","source_catalog":"EMSC-RTS",
        "lastupdate":"2023-07-01T05:00:00Z","time":"2023-07-01T03:29:25.534Z",
        "flynn_region":"SAN JUAN, ARGENTINA","lat":-31.7703,"lon":-68.7812,"depth":30.3,
        "evtype":"ke","auth":"NEIC","mag":5.3,"magtype":"mb","unid":"20230701_0000038"}}
        """#))
    let text = try contents(Self.emsc + "|ke", header: Self.header + "|EventType")
    var expected = try #require(json.records.first)
    expected.setNull(.updated)
    #expect(text.records == [expected])
  }

  /// Rows as INGV, GFZ, GeoNet and SCEDC write them.
  @Test func peculiaritiesOfTheCentres() throws {
    let ingv = try contents(
      "46128882|2026-06-04T05:50:09.890000|43.1233|12.7825|10.3|SURVEY-INGV||||ML|1.5|--|1 km NW "
        + "Nocera Umbra (PG)|earthquake",
      header: Self.header.replacing("Depth/km", with: "Depth/Km") + "|EventType", centre: "ingv")
    #expect(ingv.records.first?.text(.code) == "ingv:46128882")
    #expect(ingv.records.first?.double(.depth) == 10.3)
    #expect(ingv.records.first?.text(.type) == "earthquake")
    let gfz = try contents(
      "gfz2026kvsq|2026-06-04T04:37:28.82|-0.866|133.414|10.0|||GFZ|gfz2026kvsq|mb|4.79||Papua",
      header: String(Self.header.dropFirst()), centre: "gfz")
    #expect(gfz.records.first?.text(.code) == "gfz:gfz2026kvsq")
    #expect(gfz.records.first?.has(.net) == false)
    #expect(gfz.records.first?.timestamp(.time)?.description == "2026-06-04T04:37:28.820Z")
    let geonet = try contents(
      "2016p858000|2016-11-13 11:02:56|-42.6925|173.0197|15.11|WEL|GeoNet||2016p858000|MLv|7.8|W|H",
      centre: "geonet")
    #expect(geonet.records.first?.text(.code) == "geonet:2016p858000")
    let scedc = try contents(
      "41286815 | 2026/07/04 23:14:10.1100 | 35.2967 | -117.8028333 |  6.95 | CI | SCEDC | eq | l |"
        + "  l |  1.36 | CI |   WSW of Johannesburg, CA ",
      header:
        "#EventID  | Time    | Latitude | Longtitude   | Depth/km | Author | Catalog | ET | GT"
        + " | MagType | Magnitude | MagAuthor | EventLocationName", centre: "scedc")
    let record = try #require(scedc.records.first)
    #expect(record.text(.code) == "scedc:41286815")
    #expect(record.timestamp(.time)?.description == "2026-07-04T23:14:10.110Z")
    #expect(record.double(.longitude) == -117.8028333)
    #expect(record.text(.magnitudeType) == "l")
    #expect(record.text(.place) == "WSW of Johannesburg, CA")
  }

  @Test func emptyFieldsAreNull() throws {
    let contents = try contents(
      "1|2020-01-01|1|2|||||||||", "2|2020-01-01|1|2|--|--||||--|--|--|--")
    #expect(contents.records.count == 2)
    for record in contents.records {
      for column in [EventColumn.depth, .net, .magnitude, .magnitudeType, .place] {
        #expect(!record.has(column))
      }
    }
    let time = contents.records.first?.timestamp(.time)
    #expect(time?.description == "2020-01-01T00:00:00.000Z")
  }

  /// In an export, a space is an empty text, and nothing else.
  @Test func aSpaceIsNoNumberAndNoTime() throws {
    let good = "us1|2023-12-14T22:13:20.123|19.4|-155.25|5.5|us|usgs|us|1|mww|4.5|| |earthquake"
    let bad = [
      good.replacing("|5.5|", with: "| |"), good.replacing("|4.5|", with: "| |"),
      good.replacing("2023-12-14T22:13:20.123", with: " "),
    ]
    let rows = ([Self.header + "|EventType", good] + bad).joined(separator: "\n") + "\n"
    let contents = try FeedContents(rows)
    #expect(contents.records.map { $0.text(.place) } == [""])
    let reasons = contents.rejects.map(\.reason)
    #expect(
      reasons == [
        "The depth \" \" is not a number.", "The magnitude \" \" is not a number.",
        "The time \" \" is not a date and time of the years 1 to 9999.",
      ])
  }

  @Test func commentsAndBlankLinesAreSkipped() throws {
    let contents = try contents("", "# a comment | of any kind", Self.emsc, "  ", Self.header)
    #expect(contents.records.count == 1)
    #expect(contents.rejects.isEmpty)
    #expect(try self.contents().records.isEmpty)
  }

  /// Another store serves events that it got from feeds, and some that people have made.
  @Test func theCodesOfAnotherStoreDoNotDependOnTheFirstRow() throws {
    var options = FeedReader.Options()
    options.service = DataCentre(name: "example.org")
    let header =
      "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|"
      + "Magnitude|MagAuthor|EventLocationName|EventType\n"
    let rows = [
      "X9|2024-01-03T00:00:00|1|2||MN|mynet|MN|X9|||| a place |earthquake\n",
      "emsc:7|2024-01-02T00:00:00|1|2||EMSC|emsc|EMSC|7|||| a place |earthquake\n",
      "us7000abcd|2024-01-01T00:00:00|1|2||us|usgs|us|7000abcd|||| a place |earthquake\n",
    ]
    let texts = [rows, rows.reversed()].map { header + $0.joined() }
    for text in texts {
      let records = try FeedContents(text, options: options).records
      let events = records.map {
        "\($0.text(.code) ?? "") \($0.text(.source) ?? ""):\($0.text(.place) ?? "")"
      }
      #expect(
        Set(events) == [
          "example.org:X9 example.org:a place", "emsc:7 emsc: a place ",
          "us7000abcd usgs: a place ",
        ])
    }
  }

  /// The header is not in memory any more when the end has been read.
  @Test func aHeaderAndOnlyCommentsDoNotNameTheCentre() {
    let text = Self.header + "\n" + String(repeating: "# nothing\n", count: 40_000)
    #expect(failure(of: text)?.code == .unknownCentre)
  }

  @Test(arguments: [
    ("|2020-01-01|1|2|||||||||", "no code"), ("1||1|2|||||||||", "no time"),
    ("1|2020-13-01|1|2|||||||||", "not a date and time"),
    ("1|1970-01-01T00:00:02.-2147483648Z|1|2|||||||||", "not a date and time"),
    ("1|2020-01-01|91|2|||||||||", "latitude 91 is outside"),
    ("1|2020-01-01|1|x|||||||||", "not a number"), ("1|2020-01-01|1||||||||||", "no coordinates"),
    ("1|2020-01-01|1|2", "has 4 fields"), ("1|2020-01-01|1|2|||||||||a|b", "has 14 fields"),
    ("1|2020-01-01|1|2|||||||||\u{0}", "NUL"),
  ])
  func invalidRowsOfFDSNTextAreRejected(row: String, reason: String) throws {
    let contents = try contents(row, Self.emsc)
    #expect(contents.records.count == 1)
    let reject = try #require(contents.rejects.first)
    #expect(reject.reason.contains(reason), "\(reject.reason)")
    #expect(reject.line == 2)
    #expect(reject.raw.replacing("\\u0000", with: "\u{0}") == row)
  }

  @Test func textThatIsNotUTF8IsRejected() throws {
    let bytes = Array("\(Self.header)\n1|2020-01-01|1|2|||||||||".utf8) + [0xE9, 0x0A]
    let contents = try FeedContents(BytesSource(bytes), options: Self.options("emsc"))
    #expect(contents.rejects.first?.reason == "The place is not valid UTF-8.")
  }

  @Test(arguments: [
    "#EventID|Time|Latitude\n", "#EventID|Time|Time|Latitude|Longitude\n", "EventID|a|b|c\n",
  ])
  func anInvalidHeaderOfFDSNTextIsAnError(text: String) {
    #expect(failure(of: text, options: Self.options("emsc"))?.code == .csvHeader)
  }

  @Test func aTruncatedLastRowIsAnError() {
    let text = Self.header + "\n" + Self.emsc + "\n" + Self.emsc.prefix(40)
    #expect(failure(of: text, options: Self.options("emsc"))?.code == .truncated)
  }

  @Test func aLineThatIsTooLongIsAnError() {
    var options = Self.options("emsc")
    options.maximumFeatureBytes = 10_000
    let text = Self.header + "\n" + String(repeating: "|", count: 400_000)
    #expect(failure(of: text, options: options)?.code == .featureTooLarge)
  }

  /// Reading damaged data ends, and every row becomes either a record or a reject.
  @Test func damagedBytesNeverCrash() throws {
    var random = SeededGenerator(7)
    let good = Array((Self.header + "\n" + String(repeating: Self.emsc + "\n", count: 5)).utf8)
    var read = 0
    for _ in 0..<600 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let place = Int.random(in: 20..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeLast(bytes.count - place)
        default: bytes.insert(UInt8(ascii: Bool.random(using: &random) ? "|" : "\n"), at: place)
        }
        if bytes.count < 30 { break }
      }
      do throws(FeedError) {
        let contents = try FeedContents(BytesSource(bytes), options: Self.options("emsc"))
        #expect(contents.recordsSeen == contents.records.count + contents.rejects.count)
        read += contents.records.count
      } catch {
        #expect([.truncated, .csvHeader, .notAFeed, .emptyBody].contains(error.code), "\(error)")
      }
    }
    #expect(read > 300)
  }
}
