import Testing

@testable import QuakeStore

@Suite("The pace of a reader")
struct ReadingPaceTests {
  private func pace(after answers: [Int], isEmpty: Bool = false) -> ReadingPace {
    var pace = ReadingPace()
    for answer in answers { pace.add(answerAfter: .milliseconds(answer), isEmpty: isEmpty) }
    return pace
  }

  @Test("is without a rest while the server answers as it can")
  func quick() {
    #expect(pace(after: [1, 2, 1, 2, 1]).rest == .zero)
    // A long way there is no crowd.
    #expect(pace(after: [100, 101, 100]).rest == .zero)
  }

  @Test("has a rest after a late answer, which one quick answer does not end")
  func late() {
    #expect(pace(after: [1, 11]).rest == .milliseconds(30))
    #expect(pace(after: [1, 11, 1]).rest > .zero)
    #expect(pace(after: [1, 11] + Array(repeating: 1, count: 10)).rest == .zero)
    #expect(pace(after: [1, 10_000]).rest == .milliseconds(150))
  }

  @Test("does without the bell after three late answers in a row")
  func crowd() {
    #expect(!pace(after: [1, 100, 100]).isCrowded)
    #expect(pace(after: [1, 100, 100, 100]).isCrowded)
    #expect(!pace(after: [1, 100, 1, 1, 100]).isCrowded)
    // A server that is slow to say that there is nothing has no crowd of changes.
    #expect(!pace(after: [1, 100, 100, 100, 100], isEmpty: true).isCrowded)
  }

  @Test("takes the bell up again when nothing comes, or after a while of quick answers")
  func uncrowded() {
    var quiet = pace(after: [1, 100, 100, 100])
    quiet.add(answerAfter: .milliseconds(100), isEmpty: true)
    #expect(!quiet.isCrowded)
    #expect(pace(after: [1] + Array(repeating: 100, count: 100)).isCrowded)
    #expect(pace(after: [1, 100, 100, 100] + Array(repeating: 1, count: 31)).isCrowded)
    #expect(!pace(after: [1, 100, 100, 100] + Array(repeating: 1, count: 32)).isCrowded)
  }
}
