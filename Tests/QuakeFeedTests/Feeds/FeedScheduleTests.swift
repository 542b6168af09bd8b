import Testing

@testable import QuakeFeed

@Suite struct FeedScheduleTests {
  private let chances = stride(from: 0, through: 1, by: 0.125)

  @Test func aFeedIsNeverPolledBeforeItsIntervalHasPassed() {
    for (every, longest) in [(60, 66), (300, 330), (3600, 3630)] {
      for chance in chances {
        var schedule = FeedSchedule(every: .seconds(every))
        let pause = schedule.succeeded(freshFor: nil, chance: chance)
        #expect(pause.length >= .seconds(every) && pause.length <= .seconds(longest))
        #expect(pause.asked == nil)
      }
    }
  }

  @Test func feedsArePolledAtRandomMomentsAndNotAllAtOnce() {
    var schedule = FeedSchedule(every: .seconds(60))
    let early = schedule.succeeded(freshFor: nil, chance: 0).length
    let late = schedule.succeeded(freshFor: nil, chance: 1).length
    #expect(early == .seconds(60) && late == .seconds(66))
    let pauses = Set((0..<20).map { _ in schedule.succeeded(freshFor: nil).length })
    #expect(pauses.count > 10)
  }

  @Test func aFeedIsNotPolledWhileItsLastAnswerIsFreshButWithinADay() {
    var schedule = FeedSchedule(every: .seconds(60))
    let pause = schedule.succeeded(freshFor: 600, chance: 0)
    #expect(pause.length == .seconds(600) && pause.asked == .seconds(600))
    #expect(schedule.succeeded(freshFor: 10, chance: 0).length == .seconds(60))
    #expect(schedule.succeeded(freshFor: .max, chance: 0).length == .seconds(86_400))
    #expect(schedule.succeeded(freshFor: -5, chance: 0) == .init(length: .seconds(60), asked: nil))
  }

  @Test func pausesDoubleAfterFailuresUpToAnHour() {
    var schedule = FeedSchedule(every: .seconds(60))
    // A chance of 0.5 leaves the pauses as they are.
    let pauses = (0..<9).map { _ in schedule.failed(retryAfter: nil, chance: 0.5).length }
    #expect(
      pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600].map { Duration.seconds($0) })
    #expect(schedule.failures == 9)
    for _ in 0..<100 { _ = schedule.failed(retryAfter: nil) }
    #expect(schedule.failed(retryAfter: nil, chance: 0.5).length == .seconds(3600))
    #expect(schedule.failed(retryAfter: nil, chance: 0).length == .seconds(2700))
    #expect(schedule.failed(retryAfter: nil, chance: 1).length == .seconds(4500))
    _ = schedule.succeeded(freshFor: nil)
    #expect(schedule.failures == 0)
    #expect(schedule.failed(retryAfter: nil, chance: 0.5).length == .seconds(60))
  }

  @Test func aFeedOfALongIntervalIsPolledSoonerAfterAFailure() {
    var schedule = FeedSchedule(every: .seconds(86_400))
    #expect(schedule.failed(retryAfter: nil, chance: 0.5).length == .seconds(60))
    for _ in 0..<20 { _ = schedule.failed(retryAfter: nil) }
    #expect(schedule.failed(retryAfter: nil, chance: 0.5).length == .seconds(86_400))
  }

  @Test func aFeedIsNotPolledBeforeItsServersRetryAfterHasPassed() {
    for chance in chances {
      var schedule = FeedSchedule(every: .seconds(60))
      let pause = schedule.failed(retryAfter: 500, chance: chance)
      #expect(pause.length == .seconds(500) && pause.asked == .seconds(500))
      #expect(schedule.failed(retryAfter: .max, chance: chance).length == .seconds(86_400))
    }
  }
}
