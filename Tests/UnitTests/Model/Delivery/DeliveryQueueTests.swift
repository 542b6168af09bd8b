import Basics
import TestSupport
import Testing

@testable import QuakeConsumers

struct DeliveryQueueTests {
  private var random = SystemRandomNumberGenerator()
  private let start = Duration.seconds(1000)

  private func queue(
    atOnce: Int = 8, batch: Int = 1, giveUp: Duration = .seconds(86_400), _ subjects: String
  ) -> DeliveryQueue {
    var settings = DeliveryQueue.Settings()
    (settings.atOnce, settings.batch, settings.giveUp) = (atOnce, batch, giveUp)
    var queue = DeliveryQueue(settings)
    queue.add(
      subjects.enumerated().map { ConsumerStore.Owed(number: Int64($0 + 1), subject: "\($1)") },
      at: start)
    return queue
  }

  /// Begins all attempts that can begin.
  private func begin(_ queue: inout DeliveryQueue, at now: Duration) -> [[Int64]] {
    var all: [[Int64]] = []
    while let numbers = queue.begin(at: now) { all.append(numbers) }
    return all
  }

  private mutating func end(
    _ queue: inout DeliveryQueue, _ numbers: [Int64], _ ending: DeliveryQueue.Ending,
    at now: Duration
  ) -> [DeliveryQueue.Decision] {
    let decisions = queue.end(numbers, ending, at: now, using: &random).map(\.decision)
    queue.recorded(numbers, at: now)
    return decisions
  }

  /// Begins the only message and fails; what is decided on its next attempt.
  private mutating func fail(
    _ queue: inout DeliveryQueue, at now: Duration
  ) throws -> (attempts: Int, pause: Duration, tried: Duration) {
    #expect(queue.begin(at: now) == [1])
    let decisions = end(&queue, [1], Self.failed, at: now)
    guard case .retried(let attempts, let pause, let tried)? = decisions.first else {
      throw ToolProcess.Failure(description: "it was not tried again: \(decisions)")
    }
    return (attempts, pause, tried)
  }

  private static let failed = DeliveryQueue.Ending.failed(retryAfter: nil, isFinal: false)

  @Test func variablesAreStoredAsTheyAre() {
    let values = ["", "a=b", "=", "\u{301}x", "a\r\nb", "a\nb"]
    let variables = values.map { Message.Variable(name: "QUAKE_PLACE", value: $0) }
    let read = ConsumerStore.variables(ConsumerStore.text(of: variables))
    #expect(read.map(\.name) == variables.map(\.name))
    #expect(read.map(\.value) == ["", "a=b", "=", "\u{301}x", "a\r b", "a b"])
  }

  @Test mutating func pausesGrowToTenMinutesAndAreNotAllTheSame() throws {
    var queue = queue("a")
    var now = start
    for attempt in 1...14 {
      let (attempts, pause, _) = try fail(&queue, at: now)
      #expect(attempts == attempt)
      let whole = Duration.seconds(min(600, 1 << (attempt - 1)))
      #expect(pause >= whole / 2 && pause <= whole)
      #expect(queue.begin(at: now + pause - .milliseconds(1)) == nil)
      #expect(try #require(queue.nextBegin(at: now)) >= now + pause)
      now += max(pause, .seconds(1))
    }
  }

  @Test mutating func aReceiverThatAsksForATimeGetsItUpToAnHour() {
    var queue = queue("ab")
    #expect(queue.begin(at: start) == [1])
    let decisions = end(
      &queue, [1], .failed(retryAfter: .seconds(30), isFinal: false), at: start)
    #expect(decisions == [.retried(attempts: 1, pause: .seconds(30), tried: .zero)])
    #expect(queue.begin(at: start + .seconds(29)) == nil)
    #expect(queue.begin(at: start + .seconds(30)) == [1])
    var patient = self.queue("a")
    #expect(patient.begin(at: start) == [1])
    #expect(
      end(&patient, [1], .failed(retryAfter: .seconds(90_000), isFinal: false), at: start)
        == [.retried(attempts: 1, pause: .seconds(3600), tried: .zero)])
  }

  @Test mutating func whatIsTriedAgainByHandDoesNotWaitForTheTimeThatTheReceiverAskedFor() {
    var queue = queue("ab")
    #expect(queue.begin(at: start) == [1])
    _ = end(&queue, [1], .failed(retryAfter: .seconds(3000), isFinal: false), at: start)
    var owed = [
      ConsumerStore.Owed(number: 1, subject: "a", attempts: 1, delay: .seconds(3000)),
      ConsumerStore.Owed(number: 2, subject: "b"),
    ]
    queue.replace(with: owed, at: start)
    #expect(queue.begin(at: start) == nil)
    owed[0] = ConsumerStore.Owed(number: 1, subject: "a")
    queue.replace(with: owed, at: start)
    #expect(begin(&queue, at: start) == [[1], [2]])
  }

  @Test mutating func aTimeThatIsLaterThanAnyPauseIsNone() {
    var queue = queue("")
    let hour = Duration.seconds(3600)
    queue.add(
      [
        ConsumerStore.Owed(number: 1, subject: "a", attempts: 1, delay: hour),
        ConsumerStore.Owed(number: 2, subject: "b", attempts: 1, delay: hour * 1000),
      ], at: start)
    #expect(begin(&queue, at: start) == [[2]])
    #expect(begin(&queue, at: start + hour) == [[1]])
  }

  @Test mutating func aRefusedMessageIsParkedAndTheNextOfItsSubjectGoesOn() {
    var queue = queue("aa")
    #expect(queue.begin(at: start) == [1])
    #expect(
      end(&queue, [1], .failed(retryAfter: nil, isFinal: true), at: start)
        == [.parked(attempts: 1)])
    #expect(queue.begin(at: start) == [2])
  }

  @Test mutating func messagesOfARefusedBatchGoAlone() {
    var queue = queue(batch: 3, "abc")
    #expect(queue.begin(at: start) == [1, 2, 3])
    _ = end(&queue, [1, 2, 3], .failed(retryAfter: nil, isFinal: true), at: start)
    #expect(begin(&queue, at: start) == [[1], [2], [3]])
    #expect(
      end(&queue, [2], .failed(retryAfter: nil, isFinal: true), at: start)
        == [.parked(attempts: 2)])
    #expect(end(&queue, [1], .delivered, at: start) == [.delivered])
  }

  @Test mutating func aMessageIsGivenUpWhenItHasBeenTriedForItsTime() throws {
    var queue = queue(giveUp: .seconds(60), "a")
    // However long it has waited for its first attempt, there is another one.
    var now = start + .seconds(3600)
    var (attempts, _, tried) = try fail(&queue, at: now)
    #expect(attempts == 1 && tried == .zero)
    // A pause does not count.
    queue.setPaused(true, at: now)
    now += .seconds(7200)
    queue.setPaused(false, at: now)
    now += .seconds(10)
    (attempts, _, tried) = try fail(&queue, at: now)
    #expect(attempts == 2 && tried == .seconds(10))
    now += .seconds(50)
    #expect(queue.begin(at: now) == [1])
    #expect(end(&queue, [1], Self.failed, at: now) == [.parked(attempts: 3)])
    #expect(queue.count == 0)
  }

  @Test mutating func theTimeInWhichNoProcessRanDoesNotCount() throws {
    var queue = queue(giveUp: .seconds(60), "")
    queue.add(
      [ConsumerStore.Owed(number: 1, subject: "a", attempts: 3, tried: .seconds(55))], at: start)
    let (attempts, _, tried) = try fail(&queue, at: start + .seconds(4))
    #expect(attempts == 4 && tried == .seconds(59))
    // What people change meanwhile leaves it as it is.
    let owed = ConsumerStore.Owed(number: 1, subject: "a", attempts: 4, tried: .seconds(59))
    queue.replace(with: [owed], at: start + .seconds(20))
    #expect(queue.begin(at: start + .seconds(21)) == [1])
    #expect(end(&queue, [1], Self.failed, at: start + .seconds(21)) == [.parked(attempts: 5)])
  }

  @Test mutating func aMessageWithoutSubjectWaitsForTheOlderAndHoldsTheNewer() {
    var queue = queue(atOnce: 9, "ab")
    queue.add(
      [(3, ""), (4, "a"), (5, "c"), (6, "")].map {
        ConsumerStore.Owed(number: $0, subject: $1)
      }, at: start)
    #expect(begin(&queue, at: start) == [[1], [2]])
    #expect(queue.nextBegin(at: start) == nil)
    #expect(end(&queue, [2], .delivered, at: start) == [.delivered])
    #expect(begin(&queue, at: start).isEmpty)
    #expect(end(&queue, [1], .delivered, at: start) == [.delivered])
    #expect(begin(&queue, at: start) == [[3]])
    #expect(end(&queue, [3], .failed(retryAfter: nil, isFinal: true), at: start).count == 1)
    #expect(begin(&queue, at: start) == [[4], [5]])
    queue.replace(
      with: [(4, "a"), (6, "")].map { ConsumerStore.Owed(number: $0, subject: $1) }, at: start)
    #expect(end(&queue, [4], .delivered, at: start) == [.delivered])
    #expect(begin(&queue, at: start).isEmpty)
    #expect(end(&queue, [5], .delivered, at: start).isEmpty)
    #expect(begin(&queue, at: start) == [[6]])
  }

  @Test mutating func aReceiverThatIsDownIsTriedOnceASecond() {
    var queue = queue("abcdefghijklmnop")
    let first = begin(&queue, at: start)
    #expect(first.count == 8)
    for numbers in first {
      _ = end(&queue, numbers, .failed(retryAfter: nil, isFinal: false), at: start)
    }
    #expect(begin(&queue, at: start) == [[9]])
    _ = end(&queue, [9], .failed(retryAfter: nil, isFinal: false), at: start)
    #expect(begin(&queue, at: start + .milliseconds(500)).isEmpty)
    let later = start + .seconds(20)
    let probe = begin(&queue, at: later)
    #expect(probe.count == 1)
    _ = end(&queue, probe[0], .delivered, at: later)
    #expect(begin(&queue, at: later + .seconds(1)).count == 8)
  }

  @Test mutating func aPausedQueueBeginsNothingAndReplacedOnesKeepWhatIsUnderWay() {
    var queue = queue("abc")
    #expect(queue.begin(at: start) == [1])
    queue.setPaused(true, at: start)
    #expect(begin(&queue, at: start).isEmpty)
    #expect(queue.nextBegin(at: start) == nil)
    // 2 was discarded, 9 was parked and is tried again.
    queue.replace(
      with: [1, 3, 9].map { ConsumerStore.Owed(number: $0, subject: "x\($0)") }, at: start)
    queue.setPaused(false, at: start)
    #expect(begin(&queue, at: start) == [[3], [9]])
    #expect(end(&queue, [1], .delivered, at: start) == [.delivered])
    #expect(queue.count == 2)
  }

  @Test mutating func aDiscardedMessageUnderWayHasNoOutcome() {
    var queue = queue("aa")
    #expect(queue.begin(at: start) == [1])
    queue.replace(with: [ConsumerStore.Owed(number: 2, subject: "a")], at: start)
    #expect(begin(&queue, at: start).isEmpty)
    #expect(end(&queue, [1], .failed(retryAfter: nil, isFinal: false), at: start) == [])
    #expect(begin(&queue, at: start) == [[2]])
  }
}
