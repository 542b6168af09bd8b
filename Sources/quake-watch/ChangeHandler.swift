import CommandLine
import QuakeModel

/// Hands changes over to the output or to commands.
protocol ChangeHandler {
  /// Whether a change is handed over. One that is not does not count for limits.
  func shows(_ change: Change) -> Bool
  /// Whether the changes of a transaction are handed over together.
  var takesTransactions: Bool { get }
  /// Before the next change, the limit of the rate held back this many changes since the one before.
  func tell(heldBack count: Int)

  func handle(_ change: Change) throws
  func handle(snapshot record: QuakeRecord, token: ChangeToken, position: Int64) throws
  /// Everything up to `token` that passes the filter has been handed over.
  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws
  /// The history after `lost` is not available; a snapshot as of `token` comes next.
  func handle(reset reason: String, after lost: ChangeToken, token: ChangeToken) throws

  /// Hands over everything that is complete.
  ///
  /// - Parameter cursor: How far the history has been read.
  /// - Returns: How far it has been handed over: to `cursor`, or to before an incomplete transaction; nil
  ///   when that is no further than at the last flush.
  func flush(at cursor: HistoryCursor) throws -> HistoryCursor?
  /// The incomplete transaction, which is handed over when it is complete.
  var openTransaction: ChangeToken? { get }
}

extension ChangeHandler {
  func shows(_ change: Change) -> Bool { true }
  var takesTransactions: Bool { false }
  func tell(heldBack count: Int) {}
}

/// The handler stopped before everything was handed over.
struct HandOverStopped: Error {
  /// Everything up to here has been handed over; nil: no more than at the last flush.
  var cursor: HistoryCursor?
  /// What failed; nil when the watch was asked to end.
  var failure: CommandFailure?
  /// Why the cursor could not be stored, if that failed.
  var cursorError: (any Error)?

  init(cursor: HistoryCursor?, failure: CommandFailure? = nil) {
    self.cursor = cursor
    self.failure = failure
  }
}
