import QuakeModel
import Testing

@Suite struct TimestampParsingTests {
  private func microseconds(_ text: String) -> Int64? {
    Timestamp(iso8601: text)?.microseconds
  }

  @Test(arguments: [
    ("1970-01-01", 0),
    ("1970-01-01T00:00", 0),
    ("1970-01-01T00:01", 60_000_000),
    ("1970-01-01T00:00:02Z", 2_000_000),
    ("1970-01-01T00:00:02z", 2_000_000),
    ("1970-01-01 00:00:02", 2_000_000),
    ("1970-01-01T00:00:00.5Z", 500_000),
    ("1970-01-01T02:00:00+02:00", 0),
    ("1969-12-31T20:30:00-0330", 0),
    ("1970-01-01T05:00:00+05", 0),
    ("1970-01-01T00:00:00-00:00", 0),
    ("1969-12-31T23:59:59.999999Z", -1),
    ("2024-02-29T12:34:56.789Z", 1_709_210_096_789_000),
  ])
  func theParserTakesTheFormsThatFeedsWrite(text: String, expected: Int64) {
    #expect(microseconds(text) == expected)
  }

  @Test(arguments: ["0004-02-29", "1600-02-29", "2000-02-29", "2024-02-29"])
  func theParserKnowsLeapYears(text: String) throws {
    #expect(try #require(Timestamp(iso8601: text)).description == text + "T00:00:00.000Z")
  }

  @Test(arguments: [
    (".1", 100_000), (".12", 120_000), (".123456", 123_456), (".1234564", 123_456),
    (".1234565", 123_457), (".12345649999999999999", 123_456), (".0000005", 1),
    (".9999994", 999_999), (".9999995", 1_000_000), (".00000000000000000000000000000001", 0),
  ])
  func theParserRoundsWhatIsFinerThanAMicrosecond(fraction: String, expected: Int64) {
    #expect(microseconds("1970-01-01T00:00:00\(fraction)Z") == expected)
  }

  @Test func theParserReadsALeapSecondAsTheFirstSecondOfTheNextMinute() throws {
    let leap = try #require(Timestamp(iso8601: "2016-12-31T23:59:60Z"))
    #expect(leap.description == "2017-01-01T00:00:00.000Z")
    #expect(Timestamp(iso8601: "2016-12-31T23:59:61Z") == nil)
  }

  @Test func theParserTakesOnlyTheYears1To9999() {
    #expect(Timestamp(iso8601: "0001-01-01T00:00:00Z") == .earliest)
    #expect(Timestamp(iso8601: "9999-12-31T23:59:59.999999Z") == .latest)
    #expect(Timestamp(iso8601: "0001-01-01T00:00:00+00:01") == nil)
    #expect(Timestamp(iso8601: "9999-12-31T23:59:59.9999995Z") == nil)
    #expect(Timestamp(iso8601: "9999-12-31T23:59:59-00:01") == nil)
    #expect(Timestamp(iso8601: "0000-12-31T00:00:00Z") == nil)
  }

  @Test(arguments: [
    "", " ", "now", "1970", "1970-01", "1970-1-1", "70-01-01", "01970-01-01", "1970-01-01T",
    "1970-01-01Z", "1970-01-01T00", "1970-01-01T00Z", "1970-01-01T00:0", "1970-01-01T00:00:",
    "1970-01-01T00:00:0", "1970-01-01T00:00:000", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z",
    "1970-00-01", "1970-13-01", "1970-01-00", "1970-01-32", "1970-04-31", "2023-02-29",
    "1900-02-29", "2100-02-29", "1970-01-01T00:00:00.", "1970-01-01T00:00:00.Z",
    "1970-01-01T00:00:00,5Z", "1970-01-01T00:00:00.5.5Z", "1970-01-01T00:00:00ZZ",
    "1970-01-01T00:00:00 Z", "1970-01-01T00:00:00Z ", " 1970-01-01T00:00:00Z",
    "1970-01-01T00:00:00+", "1970-01-01T00:00:00+2", "1970-01-01T00:00:00+02:",
    "1970-01-01T00:00:00+02:0", "1970-01-01T00:00:00+02:60", "1970-01-01T00:00:00+16:00",
    "1970-01-01T00:00:00+02:00Z", "1970-01-01T00:00.5Z", "1970-01-01X00:00:00Z",
    "-1970-01-01T00:00:00Z", "+1970-01-01T00:00:00Z", "1970-01-01T-1:00:00Z",
    "1970-01-01T00:00:02.-2147483648Z", "1970-01-01T00:00:-2Z", "1970/01/01",
    "1970-01-01T00:00:0١Z",
  ])
  func theParserRefusesAnythingElse(text: String) {
    #expect(Timestamp(iso8601: text) == nil)
  }

  @Test func theParserRefusesInvisibleCharacters() {
    for end in ["\0", "\n", "\u{301}", "\u{200B}"] {
      #expect(Timestamp(iso8601: "1970-01-01T00:00:00Z" + end) == nil)
      #expect(Timestamp(iso8601: "1970-01-01T00:00:00" + end) == nil)
      #expect(Timestamp(iso8601: "1970-01-01" + end) == nil)
    }
  }

  @Test func theParserReadsNoFurtherThanItsBuffer() {
    let text = Array("2024-01-31T12:34:56.789+02:00".utf8)
    // Lengths at which a text of this kind is whole.
    let whole: Set<Int> = [10, 16, 19, 21, 22, 23, 26, 29]
    for count in 0...text.count {
      let parsed = text[..<count].withUnsafeBytes { Timestamp(iso8601: $0) }
      #expect((parsed != nil) == whole.contains(count), "\(count) bytes")
    }
  }
}
