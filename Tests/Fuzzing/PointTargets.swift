import Basics
import QuakeHistory

@testable import CommandLine
@testable import QuakeClient
@testable import QuakeModel
@testable import QuakeQuery
@testable import QuakeServer
@testable import QuakeTool

/// Short texts that stand for points of the history, instants, durations and sizes.
enum PointTargets {
  static let all: [FuzzTarget] = [
    FuzzTarget(
      text: "tokens", longest: 256,
      words: ["9f3ac2d1", ".", "-", "~", ":", "oldest", "9223372036854775807", "0"],
      seeds: [
        "0", "1042.9f3ac2d1", "1042.9f3ac2d1 17", "1042.9f3ac2d1-17", "1042.9f3ac2d1:17",
        "1042.9f3ac2d1~1043.00000001~0~~us1",
      ], check: checkTokens),
    FuzzTarget(
      name: "page-cursors", longest: 512,
      words: [
        "\0=", "\0-", "time:desc", "code:asc", "magnitude:asc", "place:desc", "nan", "0x1p-9",
      ],
      seeds: { cursors.map { Array($0.utf8) } }, check: checkPageCursors),
    FuzzTarget(
      text: "times", longest: 128,
      words: [
        "yesterday", "today", "now", " ago", "weeks", "ms", "GiB", "KiB", "-02-29", "T24:00", "60Z",
        "+15:59", "Wed, 31 Jan 2024 12:34:56 GMT", "99999999999999999999",
      ],
      seeds: [
        "2024-01-31T12:34:56.789012345Z", "2024-02-29 23:59:60+01:30", "0001-01-01",
        "9999-12-31T23:59",
        "yesterday 14:30", "7d", "2 h ago", "1h30m", "1.5s", "500MiB", "10/h",
        "Wed, 31 Jan 2024 12:34:56 GMT", "+012024-01-31T00:00:00.000Z",
        "-004712-01-01T00:00:00.000Z",
        "all_day@5m",
      ], check: checkTimes),
  ]

  @Sendable private static func checkTokens(_ text: String) {
    // Each point of the history has one text.
    if let token = ChangeToken(text) {
      require(token.description == text, "token \(token) has one text")
    }
    if let cursor = HistoryCursor(text) {
      require(cursor.description == text, "cursor \(cursor) has one text")
      require(HistoryCursor(eventID: cursor.eventID) == cursor, "\(cursor) comes back from its id")
    }
    if let cursor = HistoryCursor(eventID: text) {
      require(HistoryCursor(eventID: cursor.eventID) == cursor, "id \(cursor) comes back")
      require(HistoryCursor(cursor.description) == cursor, "id \(cursor) comes back as a cursor")
      require(cursor.changes >= 0, "a number of changes is not negative")
    }
    if let position = ChangePosition(text) {
      require(position.description == text, "position \(position) has one text")
    }
    if let cursor = DifferenceCursor(text) {
      require(cursor.description == text, "page \(cursor) has one text")
    }
  }

  private static let cursors: [String] = FeedSamples.events.flatMap { event in
    [[EventOrder.newestFirst], [.greatestFirst, .newestFirst], [EventOrder(.place)]].map {
      let text = EventCursor(of: event, in: $0).description
      return String(decoding: Base64URL.decode(text) ?? [], as: UTF8.self)
    }
  }

  /// The input is what a cursor holds, so that libFuzzer need not find base64, and also the cursor itself.
  @Sendable private static func checkPageCursors(_ bytes: [UInt8]) {
    let text = Base64URL.encode(bytes)
    require(Base64URL.decode(text) == bytes, "base64 comes back")
    for text in [text, String(decoding: bytes, as: UTF8.self)] {
      if let decoded = Base64URL.decode(text) {
        require(Base64URL.encode(decoded) == text, "base64 has one text")
      }
      guard let cursor = EventCursor(text) else { continue }
      let written = cursor.description
      require(EventCursor(written)?.description == written, "cursor \(written) comes back")
      require(EventCursor(written)?.order == cursor.order, "the order of \(written) comes back")
    }
  }

  @Sendable private static func checkTimes(_ text: String) {
    let now = Timestamp(microseconds: 1_700_000_000_000_000)
    for time in [Timestamp(iso8601: text), TimeText.read(text, now: now)].compactMap({ $0 }) {
      require(time >= .earliest, "\(time) is not too early")
      require(Timestamp(iso8601: time.description) == time, "\(time) comes back")
    }
    var copy = text
    let written = copy.withUTF8 { Timestamp(written: UnsafeRawBufferPointer($0)) }
    if let written {
      var again = written.description
      let read = again.withUTF8 { Timestamp(written: UnsafeRawBufferPointer($0)) }
      require(read == written, "\(written) comes back from what a server writes")
    }
    if let time = HTTPDate.time(text) {
      require(HTTPDate.time(HTTPDate.text(time)) == time, "\(time) comes back from an HTTP date")
    }
    _ = TimeText.suggestion(for: text)
    checkAmounts(text)
  }

  private static func checkAmounts(_ text: String) {
    if let duration = Duration(text: text) {
      require(duration >= .zero, "a duration is not negative")
      let rounded = Duration(text: duration.text)
      require(
        rounded.map { $0 <= duration && duration - $0 < .milliseconds(1) } ?? false,
        "\(duration) comes back to the millisecond from \(duration.text)")
    }
    if let size = ByteSize.bytes(text) {
      require(size >= 0, "a size is not negative")
      require(ByteSize.bytes(ByteSize.text(size)) == size, "\(size) bytes come back")
    }
    if let limit = RateLimit(text: text) {
      require(RateLimit(text: limit.text) == limit, "limit \(limit) comes back")
    }
    let timed = TimedValue(text)
    if let duration = timed.duration {
      require(text.hasPrefix(timed.value), "a value with a duration begins with the value")
      require(duration >= .zero, "the duration of a value is not negative")
    }
  }
}
