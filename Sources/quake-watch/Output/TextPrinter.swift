import CommandLine
import QuakeModel
import QuakeTool

/// Lines for people: origin time, magnitude in its colour, place, what changed, who did it.
final class TextPrinter: ChangeHandler {
  private let output: StandardOutput
  private let text: ChangeText
  private let showsBookkeeping: Bool

  /// - Parameters:
  ///   - isRelative: Whether a terminal shows origin times as `12 min ago`.
  ///   - showsBookkeeping: Whether updates of columns that no person reads are shown.
  init(output: StandardOutput, isRelative: Bool, showsBookkeeping: Bool) {
    self.output = output
    self.showsBookkeeping = showsBookkeeping
    text = ChangeText(for: output, isRelative: isRelative)
  }

  func shows(_ change: Change) -> Bool {
    showsBookkeeping
      || !ChangeText.isBookkeeping(change.op, change.changed, change.old, change.new)
  }

  func handle(_ change: Change) throws {
    try output.writeLine(text.line(change))
  }

  func handle(snapshot record: QuakeRecord, token: ChangeToken, position: Int64) throws {
    try output.writeLine(text.line(listed: record))
  }

  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws {
    try output.writeLine(text.dim("up to date  \(time.text)  token \(token)"))
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
