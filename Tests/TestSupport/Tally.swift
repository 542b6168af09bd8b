import Synchronization

/// A sum that several threads add to.
public final class Tally: Sendable {
  private let value = Atomic<Int>(0)

  /// Begins with 0.
  public init() {}

  /// Adds to the sum.
  public func add(_ number: Int) { value.add(number, ordering: .relaxed) }

  /// The sum.
  public var total: Int { value.load(ordering: .relaxed) }
}
