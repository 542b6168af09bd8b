import TestSupport
import Testing

@testable import QuakeServer

/// Which answers of the API are sent to others until the store changes.
@Suite struct APICachingTests {
  @Test func answersThatDependOnTheTimeOfTheRequestAreNotKept() throws {
    let scene = try ServiceScene(APIService(version: "").routes)
    try scene.connection.run(
      "insert into quake.quake (code, time, longitude, latitude) values ('us1', now(), 0, 0)")
    for (target, mayBeKept) in [
      ("/v1/quakes", true), ("/v1/quakes?from=2024-01-01&to=2024-02-01", true),
      ("/v1/quakes?last=1h", false), ("/v1/quakes?from=1+h+ago", false),
      ("/v1/quakes?to=now", false), ("/v1/quakes?as-of=1s", false),
      ("/v1/quakes?as-of=1", true), ("/v1/quakes?as-of-feed=yesterday", false),
      ("/v1/table?from=today", false), ("/v1/table?as-of=2100-01-01", true),
      ("/v1/stats", true), ("/v1/stats?from=7d", false), ("/v1/stats?by=day&to=1h", false),
      ("/v1/history?since=1970-01-01", true), ("/v1/history?up-to=1", true),
      ("/v1/history?until=now", false), ("/v1/history?up-to=now", false),
      ("/v1/diff?from=0", true), ("/v1/diff?from=0&to=now", false),
    ] {
      let answer = try scene.get(target)
      #expect(answer.status == 200, "\(target): \(answer.text)")
      #expect(answer.mayBeKept == mayBeKept, "\(target)")
    }
  }
}
