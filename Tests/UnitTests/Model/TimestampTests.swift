import Glibc
import QuakeModel
import TestSupport
import Testing

@Suite struct TimestampTests {
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
    "", "now", "1970", "1970-1-1", "01970-01-01", "1970-01-01T", "1970-01-01Z", "1970-01-01T00Z",
    "1970-01-01T00:00:", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-00-01", "1970-13-01",
    "1970-01-00", "1970-04-31", "2023-02-29", "1900-02-29", "1970-01-01T00:00:00.",
    "1970-01-01T00:00:00,5Z", "1970-01-01T00:00:00ZZ", "1970-01-01T00:00:00Z ",
    " 1970-01-01T00:00:00Z", "1970-01-01T00:00:00+", "1970-01-01T00:00:00+02:60",
    "1970-01-01T00:00:00+16:00", "1970-01-01T00:00:00+02:00Z", "-1970-01-01T00:00:00Z",
    "1970-01-01T00:00:02.-2147483648Z", "1970-01-01T00:00:-2Z", "1970/01/01",
    "1970-01-01T00:00:0١Z", "1970-01-01T00:00:00Z\0", "1970-01-01\u{301}",
  ])
  func theParserRefusesAnythingElse(text: String) {
    #expect(Timestamp(iso8601: text) == nil)
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

  @Test func everyInstantIsReadAsItWasWritten() throws {
    var generator = SeededGenerator(1)
    let range = Timestamp.earliest.microseconds...Timestamp.latest.microseconds
    for index in 0..<5_000 {
      var microseconds = Int64.random(in: range, using: &generator)
      // Whole milliseconds and whole seconds take other paths.
      if index % 3 == 1 { microseconds = microseconds / 1000 * 1000 }
      if index % 3 == 2 { microseconds = microseconds / 1_000_000 * 1_000_000 }
      let timestamp = Timestamp(microseconds: microseconds)
      let text = timestamp.description
      try #require(Timestamp(iso8601: text) == timestamp, "\(microseconds) is written \(text)")
    }
  }

  @Test func theTextAgreesWithTheCLibrarysCalendar() throws {
    var generator = SeededGenerator(2)
    let first = Timestamp.earliest.microseconds / 1_000_000
    let range = first...Timestamp.latest.microseconds / 1_000_000
    for _ in 0..<5_000 {
      var seconds = time_t(Int64.random(in: range, using: &generator))
      var fields = tm()
      gmtime_r(&seconds, &fields)
      func two(_ value: Int32) -> String { (value < 10 ? "0" : "") + String(value) }
      let year = String(fields.tm_year + 1900)
      let expected =
        String(repeating: "0", count: 4 - year.count) + "\(year)-\(two(fields.tm_mon + 1))-"
        + "\(two(fields.tm_mday))T\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec))"
        + ".000Z"
      try #require(Timestamp(microseconds: Int64(seconds) * 1_000_000).description == expected)
    }
  }

  @Test func theTextHasThreeDigitsOfASecondOrSixIfNeeded() {
    #expect(Timestamp(microseconds: 0).description == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp(microseconds: 1_000).description == "1970-01-01T00:00:00.001Z")
    #expect(Timestamp(microseconds: 1_001).description == "1970-01-01T00:00:00.001001Z")
    #expect(Timestamp(microseconds: -1).description == "1969-12-31T23:59:59.999999Z")
    #expect(Timestamp.earliest.description == "0001-01-01T00:00:00.000Z")
    #expect(Timestamp.latest.description == "9999-12-31T23:59:59.999999Z")
  }

  /// A database can hold such instants: writing them must neither trap nor name another year.
  @Test func theTextHasTheExpandedFormOutsideTheYears0To9999() {
    let day: Int64 = 86_400_000_000
    #expect(
      Timestamp(microseconds: Timestamp.latest.microseconds + 1).description
        == "+010000-01-01T00:00:00.000Z")
    #expect(
      Timestamp(microseconds: Timestamp.earliest.microseconds - 366 * day).description
        == "0000-01-01T00:00:00.000Z")
    #expect(
      Timestamp(microseconds: Timestamp.earliest.microseconds - 367 * day).description
        == "-000001-12-31T00:00:00.000Z")
    #expect(Timestamp(microseconds: .max).description == "+294247-01-10T04:00:54.775807Z")
    #expect(Timestamp(microseconds: .min).description == "-290308-12-21T19:59:05.224192Z")
  }
}
