import Glibc
import QuakeModel
import TestSupport
import Testing

@Suite struct TimestampFormattingTests {
  @Test func everyInstantIsReadAsItWasWritten() {
    var generator = SeededGenerator(1)
    let range = Timestamp.earliest.microseconds...Timestamp.latest.microseconds
    for index in 0..<20_000 {
      var microseconds = Int64.random(in: range, using: &generator)
      // Whole milliseconds and whole seconds take other paths.
      if index % 3 == 1 { microseconds = microseconds / 1000 * 1000 }
      if index % 3 == 2 { microseconds = microseconds / 1_000_000 * 1_000_000 }
      let timestamp = Timestamp(microseconds: microseconds)
      let text = timestamp.description
      guard Timestamp(iso8601: text) == timestamp else {
        Issue.record("\(microseconds) is written \(text)")
        return
      }
    }
  }

  @Test func theTextAgreesWithTheCLibrarysCalendar() {
    var generator = SeededGenerator(2)
    let first = Timestamp.earliest.microseconds / 1_000_000
    let range = first...Timestamp.latest.microseconds / 1_000_000
    for _ in 0..<20_000 {
      var seconds = time_t(Int64.random(in: range, using: &generator))
      var fields = tm()
      gmtime_r(&seconds, &fields)
      func two(_ value: Int32) -> String { (value < 10 ? "0" : "") + String(value) }
      let year = String(fields.tm_year + 1900)
      let expected =
        String(repeating: "0", count: 4 - year.count) + "\(year)-\(two(fields.tm_mon + 1))-"
        + "\(two(fields.tm_mday))T\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec))"
        + ".000Z"
      let text = Timestamp(microseconds: Int64(seconds) * 1_000_000).description
      guard text == expected else {
        Issue.record("\(seconds) is written \(text), not \(expected)")
        return
      }
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

  @Test func instantsAreOrderedByTime() {
    #expect(Timestamp(microseconds: -1) < Timestamp(microseconds: 0))
    #expect(!(Timestamp(microseconds: 0) < Timestamp(microseconds: 0)))
    #expect(Timestamp.earliest < Timestamp.latest)
  }
}
