import Synchronization

/// A sum that several threads add to.
final class Tally: Sendable {
  private let value = Atomic<Int>(0)

  func add(_ number: Int) { value.add(number, ordering: .relaxed) }

  var total: Int { value.load(ordering: .relaxed) }
}
