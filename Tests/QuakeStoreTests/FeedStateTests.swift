import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeStore

@Suite("The state of a feed")
struct FeedStateTests {
  private let database: TestDatabase
  private let connection: Connection
  private let url = "https://example.org/feed"

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
  }

  @Test("is empty before the first poll, and for another address")
  func unknown() throws {
    try FeedState.recordSuccess(
      "hour", url: "https://example.org/other", etag: "e", lastModified: nil, generated: nil,
      over: connection)
    let state = try FeedState.load("hour", url: url, over: connection)
    #expect(state.etag == nil && state.lastModified == nil && state.failures == 0)
  }

  @Test("counts failures, and forgets them with a success")
  func polls() throws {
    for _ in 0..<3 {
      try FeedState.recordFailure("hour", url: url, error: "no answer", over: connection)
    }
    var state = try FeedState.load("hour", url: url, over: connection)
    #expect(state.failures == 3 && state.etag == nil)
    #expect(
      try connection.table("select error, succeeded_at is null, polled_at is null from quake.feed")
        == ["no answer|t|f"])
    let generated = try #require(Timestamp(iso8601: "2024-01-01T00:00:00Z"))
    try FeedState.recordSuccess(
      "hour", url: url, etag: "\"e\"", lastModified: "Mon", generated: generated, over: connection)
    state = try FeedState.load("hour", url: url, over: connection)
    #expect(state.failures == 0 && state.etag == "\"e\"" && state.lastModified == "Mon")
    try FeedState.recordSuccess(
      "hour", url: url, etag: nil, lastModified: nil, generated: nil, over: connection)
    try FeedState.recordFailure("hour", url: url, error: "again", over: connection)
    #expect(
      try connection.table(
        "select etag is null, generated at time zone 'utc', failures, error from quake.feed")
        == ["t|2024-01-01 00:00:00|1|again"])
  }
}
