import Basics
import QuakeModel
import QuakeTool
import Testing

@testable import CommandLine

@Suite struct ValueTextTests {
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

  @Test(arguments: [
    ("0", 0), ("4096", 4096), ("7B", 7), ("2KiB", 2048), ("500MiB", 500 << 20), ("2GiB", 2 << 30),
    ("1tib", 1 << 40),
  ])
  func aSizeIsReadWithItsUnit(text: String, bytes: Int) {
    #expect(ByteSize.bytes(text) == bytes)
  }

  @Test(arguments: ["", "MiB", "-1", "+1", "1.5GiB", "1 MiB", "1MB", "1kiB2", "9999999TiB", "٣"])
  func anyOtherTextIsNoSize(text: String) {
    #expect(ByteSize.bytes(text) == nil)
  }

  @Test(arguments: [1, 1000, 1024, 256 << 20, 16 << 30, (1 << 30) + 1])
  func aSizeIsWrittenAsItIsRead(bytes: Int) {
    #expect(ByteSize.bytes(ByteSize.text(bytes)) == bytes)
  }

  @Test(arguments: [
    ("all_day@5m", "all_day", Duration.seconds(300)),
    ("2.5_week@1h30m", "2.5_week", .seconds(5400)),
    ("all_hour@60", "all_hour", .seconds(60)), ("x@0s", "x", .zero),
    (
      "https://user:pass@example.org/feed@500ms", "https://user:pass@example.org/feed",
      .milliseconds(500)
    ),
    ("feeds/a@b.geojson@2d", "feeds/a@b.geojson", .seconds(172_800)),
  ])
  func aLengthOfTimeIsTakenFromAfterTheLastAtSign(text: String, value: String, duration: Duration) {
    let parsed = TimedValue(text)
    #expect(parsed.value == value && parsed.duration == duration)
  }

  @Test(arguments: [
    "all_day", "https://user:pass@example.org/feed", "https://user:5m@example.org",
    "feeds/a@b.geojson", "@5m", "all_day@", "all_day@never", "all_day@-5m", "", "a@5m@b",
  ])
  func whatIsNoLengthOfTimeBelongsToTheValue(text: String) {
    let parsed = TimedValue(text)
    #expect(parsed.value == text && parsed.duration == nil)
  }

  private let now = Timestamp(iso8601: "2026-03-01T12:34:56.789Z") ?? .earliest

  private func read(_ text: String) -> String? { TimeText.read(text, now: now)?.description }

  @Test(arguments: [
    ("2026-01-31", "2026-01-31T00:00:00.000Z"), ("2026-01-31T12:00", "2026-01-31T12:00:00.000Z"),
    ("2026-01-31 12:00:00+02:00", "2026-01-31T10:00:00.000Z"),
    ("now", "2026-03-01T12:34:56.789Z"), ("today", "2026-03-01T00:00:00.000Z"),
    ("yesterday", "2026-02-28T00:00:00.000Z"), ("Yesterday", "2026-02-28T00:00:00.000Z"),
    ("yesterday 14:30", "2026-02-28T14:30:00.000Z"), ("today 06:00:05", "2026-03-01T06:00:05.000Z"),
    ("7d", "2026-02-22T12:34:56.789Z"), ("7d ago", "2026-02-22T12:34:56.789Z"),
    ("7 days ago", "2026-02-22T12:34:56.789Z"), ("2h", "2026-03-01T10:34:56.789Z"),
    ("2 h ago", "2026-03-01T10:34:56.789Z"), ("1 hour ago", "2026-03-01T11:34:56.789Z"),
    ("1h30m", "2026-03-01T11:04:56.789Z"), ("1 h 30 min ago", "2026-03-01T11:04:56.789Z"),
    ("90 minutes ago", "2026-03-01T11:04:56.789Z"), ("1.5h", "2026-03-01T11:04:56.789Z"),
    ("2 weeks ago", "2026-02-15T12:34:56.789Z"), ("0s", "2026-03-01T12:34:56.789Z"),
  ])
  func aTimeIsRead(text: String, expected: String) {
    #expect(read(text) == expected)
  }

  @Test(arguments: [
    "", " ", "7", "ago", "yesterdy", "tomorrow", "d", "7x", "7d ago ago", "-7d", "yesterday 25:00",
    "now 12:00", "2 months ago", "99999999999999999999d", "9999999999d", "3000y", "1042.9f3ac2d1",
    "2026-02-30", "7 d d", String(repeating: "1d ", count: 40),
  ])
  func otherTextsAreNone(text: String) {
    #expect(read(text) == nil)
  }

  @Test func aMistypedDayHasASuggestion() {
    #expect(TimeText.suggestion(for: "yesterdya") == "yesterday")
    #expect(TimeText.suggestion(for: "1042.9f3ac2d1") == nil)
  }
}
