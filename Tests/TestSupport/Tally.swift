import Synchronization

/// A sum that several threads add to.
package final class Tally: Sendable {
  private let value = Atomic<Int>(0)

  /// Begins with 0.
  package init() {}

  /// Adds to the sum.
  package func add(_ number: Int) { value.add(number, ordering: .relaxed) }

  /// The sum.
  package var total: Int { value.load(ordering: .relaxed) }
}
