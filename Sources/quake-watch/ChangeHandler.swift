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
  /// Returns when everything handed over has left this process.
  func flush() throws
}
