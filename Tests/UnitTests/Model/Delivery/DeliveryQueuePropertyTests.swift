import Basics
import TestSupport
import Testing

@testable import QuakeConsumers

/// A receiver that fails at random, a clock that is made up, and the simplest statement of what must hold.
struct DeliveryQueuePropertyTests {
  /// What is under way, and everything that has happened.
  private struct World {
    var queue: DeliveryQueue
    let settings: DeliveryQueue.Settings
    var now = Duration.seconds(100)
    var random: SeededGenerator
    /// Subjects by number.
    var subjects: [Int64: String] = [:]
    /// When the first attempt failed.
    var failedAt: [Int64: Duration] = [:]
    /// Delivered or parked.
    var done: Set<Int64> = []
    /// Before which moment a message must not be tried.
    var notBefore: [Int64: Duration] = [:]
    var underWay: [[Int64]] = []
    var unrecorded: [[Int64]] = []
    var problems: [String] = []

    init(seed: UInt64) {
      random = SeededGenerator(seed)
      var settings = DeliveryQueue.Settings()
      settings.atOnce = Int.random(in: 1...6, using: &random)
      settings.batch = [1, 1, 3, 7].randomElement(using: &random) ?? 1
      settings.giveUp = .seconds(300)
      self.settings = settings
      queue = DeliveryQueue(settings)
    }

    mutating func add() {
      let number = Int64(subjects.count + 1)
      // A message without a subject concerns all others.
      let choice = Int.random(in: 0..<14, using: &random)
      let subject = choice < 12 ? "s\(choice)" : choice == 12 ? "" : "s0"
      subjects[number] = subject
      queue.add([ConsumerStore.Owed(number: number, subject: subject)], at: now)
    }

    mutating func begin() {
      guard let numbers = queue.begin(at: now) else { return }
      if numbers.count > settings.batch { problems.append("a batch of \(numbers.count)") }
      if numbers != numbers.sorted() { problems.append("a batch without order: \(numbers)") }
      underWay.append(numbers)
      if underWay.count + unrecorded.count > settings.atOnce {
        problems.append("\(underWay.count) at once")
      }
      for number in numbers { check(number, in: numbers) }
    }

    private mutating func check(_ number: Int64, in batch: [Int64]) {
      if done.contains(number) { problems.append("\(number) again") }
      if let moment = notBefore[number], moment > now { problems.append("\(number) too early") }
      let isForAll = subjects[number] == ""
      if isForAll, batch.count > 1 { problems.append("\(number) is not alone") }
      let before = subjects.filter {
        $0.key < number && (isForAll || $0.value == "" || $0.value == subjects[number])
      }.keys
      for other in before where !done.contains(other) && !batch.contains(other) {
        problems.append("\(number) before \(other)")
      }
    }

    mutating func end() {
      guard let index = underWay.indices.randomElement(using: &random) else { return }
      let numbers = underWay.remove(at: index)
      let luck = Double.random(in: 0..<1, using: &random)
      let asked = luck < 0.1 ? Duration.seconds(5) : nil
      let ending: DeliveryQueue.Ending =
        luck < 0.5
        ? .delivered : .failed(retryAfter: luck < 0.6 ? asked : nil, isFinal: luck > 0.97)
      for (number, decision) in queue.end(numbers, ending, at: now, using: &random) {
        switch decision {
        case .delivered: done.insert(number)
        case .parked:
          done.insert(number)
          let isOld = now - (failedAt[number] ?? now) >= settings.giveUp
          if !isOld, luck <= 0.97 { problems.append("\(number) given up early") }
        case .retried(_, let pause, _):
          notBefore[number] = now + pause
          if failedAt[number] == nil { failedAt[number] = now }
        }
      }
      unrecorded.append(numbers)
    }

    mutating func record() {
      guard let index = unrecorded.indices.randomElement(using: &random) else { return }
      queue.recorded(unrecorded.remove(at: index), at: now)
    }

    mutating func step() {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...1: if subjects.count < 150 { add() }
      case 2...4: begin()
      case 5...6: end()
      case 7...8: record()
      default: now += .milliseconds(Int.random(in: 1...2000, using: &random))
      }
    }

    /// Goes on until nothing is owed; false if that never comes.
    mutating func drain() -> Bool {
      for _ in 0..<100_000 where queue.count > 0 {
        begin()
        end()
        record()
        if underWay.isEmpty, unrecorded.isEmpty, let next = queue.nextBegin(at: now) {
          now = max(now, next)
        }
      }
      return queue.count == 0
    }
  }

  @Test(arguments: 1...16)
  func whateverAReceiverDoesEachMessageComesInOrderOrIsParked(seed: Int) {
    var world = World(seed: UInt64(seed))
    for _ in 0..<1500 { world.step() }
    let isOver = world.drain()
    #expect(isOver, "seed \(seed): something is owed for ever")
    #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.prefix(3))")
    #expect(world.done.count == world.subjects.count)
  }
}
