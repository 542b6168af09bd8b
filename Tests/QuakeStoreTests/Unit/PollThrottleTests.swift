import Testing

@testable import QuakeHistory

@Suite struct PollThrottleTests {
  /// A throttle after notifications that each brought changes of that age in milliseconds.
  private func throttle(afterAges ages: [Int], isRegion: Bool = false) -> PollThrottle {
    var throttle = PollThrottle(isRegion: isRegion)
    for age in ages {
      throttle.add(.init(time: .milliseconds(1), isEmpty: false, age: .milliseconds(age)))
    }
    return throttle
  }

  private let late = [100, 100]

  @Test func theThrottlePollsWhenNotifiedChangesAreMostlyOld() {
    #expect(!throttle(afterAges: [100]).isPolling)
    #expect(throttle(afterAges: [100, 100]).isPolling)
    #expect(throttle(afterAges: [100, 1, 1, 100, 1, 100, 100]).isPolling)
    #expect(
      !throttle(afterAges: Array(repeating: [100, 1, 1], count: 50).flatMap { $0 }).isPolling)
  }

  @Test func atARegionOnlyWhatIsOlderThanUsualIsLate() {
    // The centre is far away, or its clock is ahead.
    for usual in [300, -300] {
      let ages = [usual, usual + 30, usual + 1, usual + 38]
      #expect(!throttle(afterAges: ages, isRegion: true).isPolling)
      #expect(throttle(afterAges: ages + [usual + 100, usual + 100], isRegion: true).isPolling)
      // The way has become longer for ever, in steps in which it only seems late.
      let longer = (0..<500).map { usual + $0 / 5 }
      #expect(!throttle(afterAges: longer, isRegion: true).isPolling)
    }
  }

  @Test func theThrottleDoesNotPollForOtherReasons() {
    var throttle = PollThrottle()
    // A slow network; the age of the first page, and of one after a full page, is not known.
    for _ in 0..<20 { throttle.add(.init(time: .milliseconds(300), isEmpty: false, age: nil)) }
    // So far away that the notification takes as long.
    for _ in 0..<20 {
      throttle.add(.init(time: .milliseconds(300), isEmpty: false, age: .milliseconds(320)))
    }
    #expect(!throttle.isPolling)
    #expect(throttle.delay == .zero)
  }

  @Test func theThrottlePollsAtIntervalsThatGrowWhileAnswersAreLate() {
    let delays = (0..<50).map { _ in throttle(afterAges: late).delay }
    #expect(delays.allSatisfy { (Duration.milliseconds(127)...(.milliseconds(173))).contains($0) })
    #expect(Set(delays).count > 10)

    var slow = throttle(afterAges: late)
    for _ in 0..<20 { slow.add(.init(time: .milliseconds(17), isEmpty: false, age: nil)) }
    #expect(slow.isPolling)
    #expect(slow.delay >= .milliseconds(170) && slow.delay <= .milliseconds(230))
    for _ in 0..<30 { slow.add(.init(time: .milliseconds(2), isEmpty: false, age: nil)) }
    #expect(slow.isPolling)
    #expect(slow.delay < .milliseconds(130))
  }

  @Test func theThrottleListensAgainWithoutChangesOrAfterQuickAnswers() {
    var quiet = throttle(afterAges: late)
    for _ in 0..<3 { quiet.add(.init(time: .milliseconds(1), isEmpty: true, age: nil)) }
    #expect(quiet.isPolling)
    quiet.add(.init(time: .milliseconds(1), isEmpty: true, age: nil))
    #expect(!quiet.isPolling)
    #expect(quiet.delay == .zero)

    var quick = throttle(afterAges: late)
    for _ in 0..<99 { quick.add(.init(time: .milliseconds(1), isEmpty: false, age: nil)) }
    #expect(quick.isPolling)
    for _ in 0..<3 { quick.add(.init(time: .milliseconds(1), isEmpty: false, age: nil)) }
    #expect(!quick.isPolling)
    // One late notification does not make it poll again.
    quick.add(.init(time: .milliseconds(1), isEmpty: false, age: .milliseconds(100)))
    #expect(!quick.isPolling)
  }
}
