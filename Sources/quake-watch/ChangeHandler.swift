import CommandLine
import QuakeModel

/// Hands changes over to whoever wants them.
protocol ChangeHandler {
  func handle(_ change: Change) throws
  func handle(snapshot record: QuakeRecord, token: ChangeToken, position: Int64) throws
  /// Everything up to `token` has been handed over, whatever of it the filter let through.
  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws
  /// The history after `lost` cannot be had; a snapshot as of `token` comes next.
  func handle(reset reason: String, after lost: ChangeToken, token: ChangeToken) throws

  /// Returns when everything that can be has been handed over.
  ///
  /// - Parameter place: How far the history has been read.
  /// - Returns: How far it has been handed over: to `place`, or to before a transaction that is not
  ///   whole yet; nil when that is no further than at the last flush.
  func flush(at place: HistoryCursor) throws -> HistoryCursor?
  /// The transaction that is being handed over and counts only when it is whole.
  var openTransaction: ChangeToken? { get }
}

/// Handing over has ended before all was handed over.
struct HandOverStopped: Error {
  /// Everything up to here has been handed over; nil: no more than at the last flush.
  var place: HistoryCursor?
  /// What failed; nil when the watch was asked to end.
  var failure: CommandFailure?
  /// Why the place could not be kept, if it could not.
  var placeError: (any Error)?

  init(place: HistoryCursor?, failure: CommandFailure? = nil) {
    self.place = place
    self.failure = failure
  }
}
