import Testing

@testable import QuakeHistory

@Suite("The pace of a reader")
struct PollThrottleTests {
  /// A pace that has taken in bells, each of which brought changes of that age in milliseconds.
  private func pace(afterAges ages: [Int]) -> PollThrottle {
    var pace = PollThrottle()
    for age in ages {
      pace.add(answerAfter: .milliseconds(1), isEmpty: false, age: .milliseconds(age))
    }
    return pace
  }

  private let crowded = [100, 100]

  @Test("has the bell, and no rest, while it brings changes in time")
  func quick() {
    let pace = pace(afterAges: [1, 39, 1, 20, 39, 5])
    #expect(!pace.isCrowded)
    #expect(pace.rest == .zero)
  }

  @Test("does without the bell when what it brings is mostly old")
  func crowd() {
    #expect(!pace(afterAges: [100]).isCrowded)
    #expect(pace(afterAges: [100, 100]).isCrowded)
    #expect(pace(afterAges: [100, 1, 1, 100, 1, 100, 100]).isCrowded)
    #expect(!pace(afterAges: Array(repeating: [100, 1, 1], count: 50).flatMap { $0 }).isCrowded)
  }

  @Test("does not take for a crowd what is slow or old for other reasons")
  func otherReasons() {
    var pace = PollThrottle()
    // A long way; the first page, or one after a full one, says nothing of its age.
    for _ in 0..<20 { pace.add(answerAfter: .milliseconds(300), isEmpty: false, age: nil) }
    // So far away that the bell takes as long.
    for _ in 0..<20 {
      pace.add(answerAfter: .milliseconds(300), isEmpty: false, age: .milliseconds(320))
    }
    #expect(!pace.isCrowded)
    #expect(pace.rest == .zero)
  }

  @Test("asks at intervals in a crowd, not all of them the same, longer while answers are late")
  func intervals() {
    let rests = (0..<50).map { _ in pace(afterAges: crowded).rest }
    #expect(rests.allSatisfy { (Duration.milliseconds(127)...(.milliseconds(173))).contains($0) })
    #expect(Set(rests).count > 10)

    var late = pace(afterAges: crowded)
    for _ in 0..<20 { late.add(answerAfter: .milliseconds(17), isEmpty: false, age: nil) }
    #expect(late.isCrowded)
    #expect(late.rest >= .milliseconds(170) && late.rest <= .milliseconds(230))
    for _ in 0..<30 { late.add(answerAfter: .milliseconds(2), isEmpty: false, age: nil) }
    #expect(late.isCrowded)
    #expect(late.rest < .milliseconds(130))
  }

  @Test("takes the bell up again when nothing comes, or after a while of quick answers")
  func uncrowded() {
    var quiet = pace(afterAges: crowded)
    for _ in 0..<3 { quiet.add(answerAfter: .milliseconds(1), isEmpty: true, age: nil) }
    #expect(quiet.isCrowded)
    quiet.add(answerAfter: .milliseconds(1), isEmpty: true, age: nil)
    #expect(!quiet.isCrowded)
    #expect(quiet.rest == .zero)

    var quick = pace(afterAges: crowded)
    for _ in 0..<99 { quick.add(answerAfter: .milliseconds(1), isEmpty: false, age: nil) }
    #expect(quick.isCrowded)
    for _ in 0..<3 { quick.add(answerAfter: .milliseconds(1), isEmpty: false, age: nil) }
    #expect(!quick.isCrowded)
    // And has to be shown again that there is a crowd.
    quick.add(answerAfter: .milliseconds(1), isEmpty: false, age: .milliseconds(100))
    #expect(!quick.isCrowded)
  }
}
