import Testing

@testable import QuakeServer

@Suite struct FairQueueTests {
  @Test func ownersTakeTurns() {
    var queue = FairQueue<Int>()
    for number in 0..<3000 { queue.add(number, of: "a") }
    queue.add(10_000, of: "b")
    queue.add(10_001, of: "b")
    let first = (0..<5).compactMap { _ in queue.take()?.element }
    #expect(first == [0, 10_000, 1, 10_001, 2])
    #expect(queue.count == 2997)
    let rest = (0..<3000).compactMap { _ in queue.take()?.element }
    #expect(rest == Array(3..<3000))
    #expect(queue.count == 0 && queue.take() == nil)
  }

  @Test func anOwnerAtItsLimitIsSkipped() {
    var queue = FairQueue<Int>()
    queue.add(1, of: "a")
    queue.add(2, of: "b")
    queue.add(3, of: "a")
    #expect(queue.take { $0 != "a" }?.element == 2)
    #expect(queue.take { $0 != "a" } == nil)
    #expect(queue.take()?.element == 1)
    #expect(queue.take()?.element == 3)
  }
}
