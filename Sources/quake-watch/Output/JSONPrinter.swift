import CommandLine
import QuakeModel

/// One JSON object a line.
final class JSONPrinter: ChangeHandler {
  private let output: StandardOutput
  private var json = JSONWriter()

  init(output: StandardOutput) {
    self.output = output
  }

  func handle(_ change: Change) throws {
    try json.change(change, drain: drain)
    try writeLine()
  }

  func handle(snapshot record: QuakeRecord, token: ChangeToken, position: Int64) throws {
    try json.snapshot(record, token: token, position: position, drain: drain)
    try writeLine()
  }

  func handle(heartbeat token: ChangeToken, at time: Timestamp) throws {
    json.heartbeat(token, at: time)
    try writeLine()
  }

  func handle(reset reason: String, after lost: ChangeToken, token: ChangeToken) throws {
    json.reset(reason, after: lost, token: token)
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

  func flush(at cursor: HistoryCursor) throws -> HistoryCursor? {
    try output.flush()
    return cursor
  }

  /// Each line counts by itself.
  var openTransaction: ChangeToken? { nil }
}
