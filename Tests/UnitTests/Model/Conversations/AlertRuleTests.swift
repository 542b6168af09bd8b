import Testing

@testable import QuakeConsumers
@testable import QuakeModel

@Suite struct AlertRuleTests {
  @Test func nightHoursFollowTheClockOfTheirPlace() throws {
    let athens = try #require(TimeZoneFile(named: "Europe/Athens"))
    let night = try #require(NightHours("22:00-07:00", in: athens))
    func isNight(_ time: String) throws -> Bool {
      night.contains(try #require(Timestamp(iso8601: time)))
    }
    // Summer: three hours ahead of UTC.
    #expect(try !isNight("2026-07-01T18:59:59Z"))
    #expect(try isNight("2026-07-01T19:00:00Z"))
    #expect(try isNight("2026-07-02T03:59:59Z"))
    #expect(try !isNight("2026-07-02T04:00:00Z"))
    // Winter: two.
    #expect(try !isNight("2026-01-01T19:59:00Z"))
    #expect(try isNight("2026-01-01T20:00:00Z"))
    #expect(try isNight("1965-01-01T21:00:00Z"))
    let siesta = try #require(NightHours("13:00-15:30", in: .utc))
    #expect(siesta.contains(try #require(Timestamp(iso8601: "1969-12-31T15:29:00Z"))))
    #expect(!siesta.contains(try #require(Timestamp(iso8601: "1969-12-31T15:30:00Z"))))
  }

  @Test(arguments: ["", "22-7", "22:00", "22:00-22:00", "24:00-07:00", "2:00-07:00", "22:00-07:60"])
  func otherTextsAreNoNightHours(text: String) {
    #expect(NightHours(text, in: .utc) == nil)
  }

  @Test func onlyTheSystemsZonesAreRead() {
    for name in ["", "/etc/passwd", "../../../etc/passwd", "Mars/Olympus", "tzdata.zi", "Europe"] {
      #expect(TimeZoneFile(named: name) == nil, "\(name)")
    }
    #expect(TimeZoneFile(tzif: []) == nil)
    let empty = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 83)
    #expect(TimeZoneFile(tzif: empty) == nil)
    #expect(TimeZoneFile(tzif: Array(empty.prefix(44)) + empty.prefix(44)) == nil)
  }

  @Test func ruptureLengthsAreThoseOfWellsAndCoppersmith() {
    // Table 2A: M 7 breaks 49 km below the surface.
    #expect(abs(AftershockZone.ruptureLength(magnitude: 7) - 48.98) < 0.01)
    #expect(AftershockZone(of: Alert.Told(.event("us1", 5.5))) == nil)
    #expect(AftershockZone(of: Alert.Told(.event("us1", 5.6))) != nil)
  }

  @Test func aRuleWithoutAThresholdHoldsEveryMagnitude() {
    var rule = AlertRule()
    #expect(rule.holding.accepts(.event("us1", -1)) && rule.holding.accepts(.event("us1", nil)))
    rule.filter.minimumMagnitude = 4.5
    #expect(rule.holding.accepts(.event("us1", 4.3)))
    #expect(!rule.holding.accepts(.event("us1", 4.29)))
    #expect(!rule.holding.accepts(.event("us1", nil)))
  }

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
