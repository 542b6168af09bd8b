import Basics
import CommandLine
import Glibc
import QuakeModel
import QuakeSinks

/// Runs a command for each transaction, and gives it the changes as they come: however large the
/// transaction, only a few of its changes are in memory.
final class BatchRunner: CommandHandler {
  private struct Batch {
    let token: ChangeToken
    /// For messages.
    let subject: String
    /// nil if it could not be started and is skipped.
    let child: RunningChild?
    /// The cursor before it; nil if it is not known since the last flush.
    let before: HistoryCursor?
    /// Whether a flush has returned the cursor before it.
    var isReported = false
  }

  private let command: ShellCommand
  private let policy: FailurePolicy
  let wait = CommandWait()
  /// Lines that the command has not been given yet.
  private var json = JSONWriter()
  private var batch: Batch?
  /// The last transaction since a flush that left none open.
  private var last: ChangeToken?
  /// How many changes the limit of the rate held back since the last command.
  private var heldBack = 0

  init(_ command: ShellCommand, policy: FailurePolicy) {
    self.command = command
    self.policy = policy
  }

  // MARK: - Handing over

  func handle(_ change: Change) throws {
    let token = change.transaction.token
    try open(token, "transaction \(token)", before: last.map { HistoryCursor(token: $0) })
    last = token
    json.change(change, drain: give)
    try giveLine()
  }

  func handle(snapshot record: EventRecord, token: ChangeToken, position: Int64) throws {
    try open(token, "snapshot (token \(token))", before: nil)
    json.snapshot(record, token: token, position: position, drain: give)
    try giveLine()
  }

  /// The reset and the snapshot that follows are one batch.
  func handle(
    reset reason: String, after: ChangeToken, lost: [ChangeToken], token: ChangeToken
  ) throws {
    try open(token, "reset and snapshot (token \(token))", before: nil)
    json.reset(reason, after: after, lost: lost, token: token)
    try giveLine()
  }

  var takesTransactions: Bool { true }

  func tell(heldBack count: Int) { heldBack = count }

  func flush(at cursor: HistoryCursor) throws -> HistoryCursor? {
    defer { wait.reset() }
    if let batch, cursor.changes == 0 || cursor.token != batch.token { try close() }
    guard let batch else {
      last = nil
      return cursor
    }
    defer { self.batch?.isReported = true }
    return batch.isReported ? nil : batch.before
  }

  var openTransaction: ChangeToken? { batch?.token }

  /// A batch that is still open is incomplete: its command must not mistake the end of its input for the
  /// end of the transaction.
  func end() {
    guard let child = batch?.child else { return }
    child.signal(SIGTERM)
    wait.wait(for: [child]) { child.ending != nil }
    batch = nil
  }

  // MARK: - Batches

  /// Ends the batch before and begins a new one, unless this one is open.
  private func open(_ token: ChangeToken, _ subject: String, before: HistoryCursor?) throws {
    guard batch?.token != token else { return }
    try close()
    if Signals.stopRequested { throw HandOverStopped(cursor: before) }
    var child: RunningChild?
    do throws(ChildProcess.LaunchError) {
      child = try command.start(CommandVariables(token: token, heldBack: heldBack).values)
      heldBack = 0
    } catch {
      if let failure = policy.judge(CommandFailure(subject, error)) {
        throw HandOverStopped(cursor: before, failure: failure)
      }
    }
    batch = Batch(token: token, subject: subject, child: child, before: before)
  }

  /// How many bytes the command gets at once.
  private static let pieceSize = 64 * 1024

  /// A line may be some megabytes long: the command gets it as it is made.
  private func give(_ json: inout JSONWriter) {
    defer { json.removeWritten() }
    guard let child = batch?.child else { return }
    child.give(json.bytes)
    wait.wait(for: [child]) { !child.isTaking || child.ending != nil }
  }

  private func giveLine() throws {
    json.newline()
    guard json.count >= Self.pieceSize else { return }
    give(&json)
    json.removeAll()
    guard let child = batch?.child else { return }
    // If the command has failed already, the rest of a long transaction need not be read.
    if let ending = child.ending, ending != .exited(0), policy.stops { try close() }
  }

  /// Ends the batch's input and waits for the command.
  private func close() throws {
    guard let batch else { return }
    defer {
      json.removeAll()
      self.batch = nil
    }
    guard let child = batch.child else { return }
    child.give(json.bytes, isLast: true)
    wait.wait(for: [child]) { child.ending != nil }
    guard let ending = child.ending, ending != .exited(0) else { return }
    if wait.isInterruption(ending) { throw HandOverStopped(cursor: batch.before) }
    if let failure = policy.judge(CommandFailure(batch.subject, ending)) {
      throw HandOverStopped(cursor: batch.before, failure: failure)
    }
  }
}
