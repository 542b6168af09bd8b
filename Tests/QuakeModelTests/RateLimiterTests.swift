import Testing

@testable import QuakeModel

@Suite struct RateLimiterTests {
  @Test func aLimitIsANumberAndAUnit() throws {
    for (text, count, seconds) in [
      ("1/s", 1, 1), ("10/h", 10, 3600), ("600/m", 600, 60), ("1000000/d", 1_000_000, 86_400),
    ] {
      let limit = try #require(RateLimit(text: text))
      #expect(limit.count == count && limit.period == .seconds(seconds))
      #expect(limit.text == text)
    }
    for text in [
      "", "10", "/h", "10/", "0/h", "-1/h", "+1/h", "1.5/h", "10/w", "10/hour", "10/h/h", " 10/h",
      "1000001/h", "99999999999999999999/h",
    ] {
      #expect(RateLimit(text: text) == nil, "\(text)")
    }
  }

  @Test func aBurstPassesAndThenOneForEachPartOfThePeriod() throws {
    let limit = try #require(RateLimit(text: "10/h"))
    var limiter = RateLimiter(limit, at: .zero)
    func passing(_ seconds: Int) -> Int {
      (0..<50).reduce(0) { count, _ in count + (limiter.admits(at: .seconds(seconds)) ? 1 : 0) }
    }
    #expect(passing(1) == 10)
    #expect(limiter.heldBack == 40)
    #expect(limiter.timeToNext(at: .seconds(1)) > .seconds(359))
    let admitted = [300, 362, 363].map { limiter.admits(at: .seconds($0)) }
    #expect(admitted == [false, true, false])
    let heldBack = limiter.takeHeldBack()
    #expect(heldBack == 42 && limiter.heldBack == 0)
    let isLater = limiter.admits(at: .seconds(363) + limiter.timeToNext(at: .seconds(363)))
    #expect(isLater)
    // After a long time no more than the limit pass at once.
    #expect(passing(100_000) == 10)
  }
}
