import Basics
import Testing

@testable import CommandLine

@Suite struct DurationTests {
  @Test(arguments: [
    ("500ms", Duration.milliseconds(500)), ("60s", .seconds(60)), ("5m", .seconds(300)),
    ("1h", .seconds(3_600)), ("2d", .seconds(172_800)), ("90", .seconds(90)), ("0", .zero),
    ("1.5s", .milliseconds(1_500)), ("0.25", .milliseconds(250)), ("1h30m", .seconds(5_400)),
    ("1.0005d", .milliseconds(86_443_200)), ("1m1ms", .milliseconds(60_001)),
  ])
  func aDurationIsReadFromText(text: String, expected: Duration) {
    #expect(Duration(text: text) == expected)
  }

  @Test(arguments: [
    "", "s", "-1s", "+1s", "1x", "1 s", "1S", "1h30", "30m1h", "1s1s", "1.s", ".5s", "1.00001s",
    "999999999999d", "99999999999999999999s", "1e3", "106752d",
  ])
  func textThatIsNoDurationIsRefused(text: String) { #expect(Duration(text: text) == nil) }

  @Test(arguments: ["1h30m", "500ms", "2d", "1d1h1m1s1ms", "0s"])
  func aDurationIsWrittenAsItIsRead(text: String) { #expect(Duration(text: text)?.text == text) }

  @Test func pollTimeoutsAreRoundedUpAndHeldInRange() {
    #expect(Duration.microseconds(1).pollTimeout == 1)
    #expect(Duration.milliseconds(1_500).pollTimeout == 1_500)
    #expect(Duration.seconds(-3).pollTimeout == 0)
    #expect(Duration.seconds(1 << 40).pollTimeout == 2_000_000_000)
  }

  @Test func wholeUnitsDropTheRestAndAreHeldInRange() {
    #expect(Duration.microseconds(1_999).wholeMilliseconds == 1)
    #expect(Duration.nanoseconds(1_999).wholeMicroseconds == 1)
    #expect(Duration.milliseconds(-1_500).wholeMilliseconds == -1_500)
    for extreme in [Int64.max, .min] {
      #expect(Duration.seconds(extreme).wholeMilliseconds == extreme)
      #expect(Duration.seconds(extreme).wholeMicroseconds == extreme)
    }
  }

  @Test func theClockGoesForward() {
    let first = MonotonicClock.now()
    #expect(first > .zero && MonotonicClock.now() >= first)
  }
}
