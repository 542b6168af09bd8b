import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeWorker

@Suite final class FeedStateTests: DatabaseSuite {
  private let url = "https://example.org/feed"
  private let minute = FeedState.Times(every: .seconds(60), next: .seconds(63), asked: .seconds(30))

  private func load(every: Duration = .seconds(60)) throws -> FeedState {
    try FeedState.load("hour", url: url, every: every, over: connection)
  }

  private func succeed(
    url: String? = nil, etag: String? = "\"e\"", generated: Timestamp? = nil,
    importID: Int64? = nil, resetAt: String? = nil
  ) throws {
    var state = FeedState()
    state.etag = etag
    state.lastModified = "Mon"
    state.resetAt = resetAt
    var report = ImportReport()
    report.generated = generated
    report.id = importID
    try FeedState.recordSuccess(
      "hour", url: url ?? self.url, state, report: report, times: minute, over: connection)
  }

  private func fail(url: String? = nil, next: Int = 120, asked: Duration? = nil) throws {
    try FeedState.recordFailure(
      "hour", url: url ?? self.url, error: "no answer",
      times: FeedState.Times(every: .seconds(60), next: .seconds(next), asked: asked),
      over: connection)
  }

  /// Seconds after the last poll.
  private func seconds(_ column: String) throws -> Int? {
    try connection.ask(
      "select extract(epoch from \(column) - polled_at)::integer from quake.feed"
    ).flatMap { Int($0) }
  }

  /// Whether `left` is the rest of `time`, which was stored after `begun`.
  private func isLeft(
    _ left: Duration, of time: Duration, since begun: ContinuousClock.Instant
  ) -> Bool {
    left <= time && left >= time - (ContinuousClock.now - begun) - .seconds(1)
  }

  @Test func theStateOfAFeedCountsFailuresUntilASuccess() throws {
    for _ in 0..<3 { try fail() }
    var state = try load()
    #expect(state.failures == 3 && state.etag == nil)
    #expect(
      try connection.table("select error, succeeded_at is null, polled_at is null from quake.feed")
        == ["no answer|t|f"])
    let generated = try #require(Timestamp(iso8601: "2024-01-01T00:00:00Z"))
    try succeed(generated: generated, importID: 7)
    state = try load()
    #expect(state.failures == 0 && state.etag == "\"e\"" && state.lastModified == "Mon")
    try succeed(etag: nil)
    try fail()
    #expect(
      try connection.table(
        """
        select etag is null, generated at time zone 'utc', failures, error, last_import_id
          from quake.feed
        """) == ["t|2024-01-01 00:00:00|1|no answer|7"])
  }

  @Test func aResetRemovesTheValidatorsOfAFeed() throws {
    try succeed()
    let other = try database.connect()
    try other.run("begin")
    #expect(try FeedControl.reset("hour", over: other) == 0)
    // The poll begins after the time of the reset, which it does not see yet.
    var state = try load()
    #expect(state.etag == "\"e\"" && state.resetAt == nil)
    try other.run("commit")
    try succeed(resetAt: state.resetAt)
    state = try load()
    #expect(state.etag == nil && state.lastModified == nil && state.resetAt != nil)
    try succeed(resetAt: state.resetAt)
    #expect(try load().etag == "\"e\"")
  }

  @Test func theStateOfAFeedSaysWhenItIsDue() throws {
    let begun = ContinuousClock.now
    try succeed()
    var state = try load()
    #expect(isLeft(state.dueIn, of: .seconds(63), since: begun))
    #expect(state.retryIn == .zero)
    let ago = try #require(state.polledAgo)
    #expect(ago >= .zero && ago < ContinuousClock.now - begun + .seconds(1))
    #expect(try [seconds("next_due"), seconds("fresh_until")] == [63, 30])
    try fail(asked: .seconds(90))
    state = try load()
    #expect(isLeft(state.dueIn, of: .seconds(120), since: begun))
    #expect(isLeft(state.retryIn, of: .seconds(90), since: begun))
    #expect(
      try [seconds("next_due"), seconds("retry_after"), seconds("fresh_until")] == [120, 90, nil])
  }

  @Test func aFeedIsDueByItsPresentScheduleButNotBeforeItsServerAllows() throws {
    let begun = ContinuousClock.now
    try succeed()
    // A minute in the table, ten seconds wanted: but the answer is fresh for thirty.
    var state = try load(every: .seconds(10))
    #expect(isLeft(state.dueIn, of: .seconds(30), since: begun))
    state = try load(every: .seconds(3600))
    #expect(isLeft(state.dueIn, of: .seconds(3600), since: begun))
    try fail()
    state = try load(every: .seconds(10))
    #expect(isLeft(state.dueIn, of: .seconds(120), since: begun))
  }

  @Test func aFeedNeverWaitsMoreThanADay() throws {
    try succeed()
    try connection.run("update quake.feed set next_due = now() + interval '10 years'")
    #expect(try load().dueIn <= .seconds(90_000))
    try connection.run(
      "update quake.feed set next_due = now() - interval '10 years', fresh_until = null")
    #expect(try load().dueIn == .zero)
  }

  @Test func theLongestWaitBeginsAtTheLastPollAndNotAtTheStartOfAWorker() throws {
    try succeed()
    for column in ["next_due", "fresh_until", "retry_after"] {
      try connection.run(
        """
        update quake.feed
           set polled_at = now() - interval '26 hours', next_due = null, fresh_until = null, retry_after = null
        """, "update quake.feed set \(column) = now() + interval '10 years'")
      #expect(try load().dueIn == .zero && load().retryIn == .zero, "\(column)")
    }
    // A feed that is polled less often than that.
    let week = Duration.seconds(7 * 86_400)
    #expect(try load(every: week).dueIn > .seconds(5 * 86_400))
    // A poll of the future shows that a clock was wrong.
    try connection.run(
      """
      update quake.feed set polled_at = now() + interval '10 years', next_due = polled_at, retry_after = null
      """)
    #expect(try load().dueIn == .zero)
  }

  @Test func theStateOfAFeedBeginsAnewAtAnotherAddress() throws {
    try succeed()
    for _ in 0..<3 { try fail() }
    try fail(url: "https://example.org/other")
    #expect(
      try connection.table("select url, failures, etag is null from quake.feed")
        == ["https://example.org/other|1|t"])
  }

  @Test func aFeedIsKnownAsSoonAsAWorkerStarts() throws {
    try succeed()
    try FeedState.register([("hour", "x"), ("day", "y")], over: connection)
    #expect(
      try connection.table("select name, url, next_due is null from quake.feed order by name")
        == ["day|y|t", "hour|\(url)|f"])
  }
}
