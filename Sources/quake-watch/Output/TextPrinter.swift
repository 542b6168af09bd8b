import CommandLine
import QuakeModel
import QuakeTool

/// Lines for people: origin time, magnitude in its colour, place, what changed, who did it.
final class TextPrinter: ChangeHandler {
  private let output: StandardOutput
  private let text: ChangeText

  init(output: StandardOutput) {
    self.output = output
    text = ChangeText(for: output)
  }

  func handle(_ change: Change) throws {
    try output.writeLine(text.line(change))
  }

  func handle(snapshot record: QuakeRecord, token: ChangeToken, position: Int64) throws {
    try output.writeLine("        \(text.describe(record))")
  }

  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws {
    try output.writeLine(text.dim("up to date  \(time)  token \(token)"))
  }

  func handle(reset reason: String, after lost: ChangeToken, token: ChangeToken) throws {
    try output.writeLine(
      "the history after \(lost) is not available (\(reason)); the events as of \(token):")
  }

  func flush(at cursor: HistoryCursor) throws -> HistoryCursor? {
    try output.flush()
    return cursor
  }

  /// Each line counts by itself.
  var openTransaction: ChangeToken? { nil }
}
