import CommandLine
import QuakeModel
import QuakeSinks
import QuakeTool

/// Lines for people: origin time, magnitude in its colour, place, what changed, who did it.
final class TextPrinter: ChangePrinter {
  let output: StandardOutput
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

  func handle(snapshot record: EventRecord, token: ChangeToken, position: Int64) throws {
    try output.writeLine(text.line(listed: record))
  }

  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws {
    try output.writeLine(text.dim("up to date  \(time.text)  token \(token)"))
  }

  func handle(
    reset reason: String, after: ChangeToken, lost: [ChangeToken], token: ChangeToken
  ) throws {
    try output.writeLine(
      "the history after \(after) is not available (\(reason)); the events as of \(token):")
  }
}

/// One JSON object a line.
final class JSONPrinter: ChangePrinter {
  let output: StandardOutput
  private var json = JSONWriter()

  init(output: StandardOutput) {
    self.output = output
  }

  func handle(_ change: Change) throws {
    try json.change(change, drain: drain)
    try writeLine()
  }

  func handle(snapshot record: EventRecord, token: ChangeToken, position: Int64) throws {
    try json.snapshot(record, token: token, position: position, drain: drain)
    try writeLine()
  }

  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws {
    json.heartbeat(token, at: time)
    try writeLine()
  }

  func handle(
    reset reason: String, after: ChangeToken, lost: [ChangeToken], token: ChangeToken
  ) throws {
    json.reset(reason, after: after, lost: lost, token: token)
    try writeLine()
  }

  /// A line may be some megabytes long: it is written as it is made.
  private func drain(_ json: inout JSONWriter) throws {
    try json.withBytes { try output.write($0) }
    json.removeWritten()
  }

  private func writeLine() throws {
    json.newline()
    try json.withBytes { try output.write($0) }
    json.removeAll()
  }
}

/// Hands changes over to the output or to commands.
protocol ChangeHandler {
  /// Whether a change is handed over. One that is not does not count for limits.
  func shows(_ change: Change) -> Bool
  /// Whether the changes of a transaction are handed over together.
  var takesTransactions: Bool { get }
  /// Before the next change, the limit of the rate held back this many changes since the one before.
  func tell(heldBack count: Int)

  func handle(_ change: Change) throws
  func handle(snapshot record: EventRecord, token: ChangeToken, position: Int64) throws
  /// Everything up to `token` that passes the filter has been handed over.
  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws
  /// The history after `after` is not available; a snapshot as of `token` comes next. The transactions `lost` were
  /// handed over and are not in the history any more.
  func handle(
    reset reason: String, after: ChangeToken, lost: [ChangeToken], token: ChangeToken
  ) throws

  /// Hands over everything that is complete.
  ///
  /// - Parameter cursor: How far the history has been read.
  /// - Returns: How far it has been handed over: to `cursor`, or to before an incomplete transaction; nil
  ///   when that is no further than at the last flush.
  func flush(at cursor: HistoryCursor) throws -> HistoryCursor?
  /// Throws if nobody takes what is handed over any longer.
  func checkReader() throws
  /// The incomplete transaction, which is handed over when it is complete.
  var openTransaction: ChangeToken? { get }
}

extension ChangeHandler {
  func shows(_ change: Change) -> Bool { true }
  var takesTransactions: Bool { false }
  func tell(heldBack count: Int) {}
  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws {}
  func checkReader() throws {}
  var openTransaction: ChangeToken? { nil }
}

/// Hands changes over to the output, each by itself.
protocol ChangePrinter: ChangeHandler {
  var output: StandardOutput { get }
}

extension ChangePrinter {
  func flush(at cursor: HistoryCursor) throws -> HistoryCursor? {
    try output.flush()
    return cursor
  }

  func checkReader() throws { try output.checkReader() }
}

/// The handler stopped before everything was handed over.
struct HandOverStopped: Error {
  /// Everything up to here has been handed over; nil: no more than at the last flush.
  var cursor: HistoryCursor?
  /// What failed; nil when the watch was asked to end.
  var failure: CommandFailure?
  /// Why the cursor could not be stored, if that failed.
  var cursorError: (any Error)?
}
