import QuakeModel
import QuakeTool
import Testing

@Suite struct TimeTextTests {
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
