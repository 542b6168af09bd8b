import Basics
import Synchronization

/// The connections that are open.
final class OpenConnections: Sendable {
  private let records = Mutex<[ObjectIdentifier: ConnectionRecord]>([:])

  /// How many are open.
  var count: Int { records.withLock { $0.count } }

  /// How many of them have a request that is being answered.
  var busy: Int { records.withLock { $0.values.count { $0.isBusy } } }

  func add(_ record: ConnectionRecord) {
    records.withLock { $0[ObjectIdentifier(record)] = record }
  }

  func remove(_ record: ConnectionRecord) {
    records.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(record)) }
  }

  /// Ends those whose requests are late.
  func endLate() {
    let now = MonotonicClock.now()
    let all = records.withLock { Array($0.values) }
    for record in all { record.endIfLate(at: now) }
  }
}
