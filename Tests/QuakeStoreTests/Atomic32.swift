import Synchronization

/// A number that one thread tells another.
final class Atomic32: Sendable {
  private let number = Atomic<Int32>(0)

  func set(_ value: Int32) { number.store(value, ordering: .releasing) }

  var value: Int32 { number.load(ordering: .acquiring) }
}
