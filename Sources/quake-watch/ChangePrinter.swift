import CommandLine
import QuakeModel

/// Hands changes over to whoever reads standard output.
protocol ChangePrinter {
  func print(_ change: Change) throws
  func print(snapshot record: QuakeRecord, token: ChangeToken, position: Int64) throws
  /// Everything up to `token` has been handed over, whatever of it the filter let through.
  func print(heartbeat token: ChangeToken, at time: Timestamp) throws
  /// The history after `lost` cannot be had; a snapshot as of `token` comes next.
  func print(reset reason: String, after lost: ChangeToken, token: ChangeToken) throws
  /// Returns when everything printed has left this process.
  func flush() throws
}
