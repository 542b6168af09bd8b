import Basics
import QuakeHistory
import QuakeModel

/// Writes a witness when that is worth it.
final class WitnessKeeper {
  let file: WitnessFile
  private let delivered: DeliveredTransactions
  /// The cursor that the file does not have yet, and when it was created.
  private var unwritten: (cursor: HistoryCursor, created: Timestamp)?
  /// When the last write began, and how long it took.
  private var lastWrite: (begun: Duration, lasted: Duration)?

  /// - Parameter delivered: The transactions that the watcher has delivered.
  init(_ file: WitnessFile, _ delivered: DeliveredTransactions) {
    self.file = file
    self.delivered = delivered
  }

  /// Whether it has written the file.
  var hasWritten: Bool { lastWrite != nil }

  /// Takes a cursor for the next write.
  func note(_ cursor: HistoryCursor, of created: Timestamp) { unwritten = (cursor, created) }

  /// Forgets the cursor that is not written yet.
  func drop() { unwritten = nil }

  /// Whether to write now although the next cursor comes soon. A write takes as long as the disk needs to store the
  /// file, of which this leaves a small part of the time.
  var isDue: Bool {
    guard let (begun, lasted) = lastWrite else { return true }
    let interval = min(max(.milliseconds(200), lasted * 40), .seconds(5))
    return MonotonicClock.now() - begun >= interval
  }

  /// Writes what the file does not have yet.
  func writePending() throws {
    guard let (cursor, created) = unwritten else { return }
    unwritten = nil
    let begun = MonotonicClock.now()
    try file.save(
      Witness(cursor: cursor, created: created, delivered: delivered.last(upTo: cursor)))
    lastWrite = (begun, MonotonicClock.now() - begun)
  }
}
