import CommandLine
import QuakeModel

/// Hands changes over to whoever reads standard output.
protocol ChangePrinter {
  func print(_ change: Change) throws
  func print(snapshot record: QuakeRecord, token: ChangeToken, position: Int64) throws
  /// Returns when everything printed has left this process.
  func flush() throws
}
