import Testing

@testable import CommandLine

@Suite struct TimedValueTests {
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
}
