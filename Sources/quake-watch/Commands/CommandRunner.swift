import Basics
import CommandLine
import Glibc
import QuakeModel
import QuakeSinks

/// Runs a command for each change, several at once if `--jobs` allows it; never two at once for one event.
final class CommandRunner: CommandHandler {
  private struct Run {
    let child: RunningChild
    let work: Work
  }

  /// The change or snapshot line that a command is run for.
  private struct Work {
    /// Its number in the order of delivery.
    var number: Int
    /// For messages.
    var subject: String
    /// The event; nil if it concerns all events.
    var code: String?
    var variables: CommandVariables
    /// The cursor before it; nil if it is not known since the last flush.
    var before: HistoryCursor?

    /// Whether their order matters.
    func concerns(_ other: Work) -> Bool {
      code == nil || other.code == nil || code == other.code
    }
  }

  private let command: ShellCommand
  private let jobs: Int
  private let policy: FailurePolicy
  let wait = CommandWait()
  private var json = JSONWriter()
  private var running: [Run] = []
  private var count = 0
  /// How many changes the limit of the rate held back since the last command.
  private var heldBack = 0
  /// The transaction of the last change since the last flush.
  private var last: ChangeToken?
  /// The earliest work whose command failed or was not run.
  private var undone: (number: Int, stop: HandOverStopped)?

  /// - Parameter jobs: How many commands may run at once, from 1.
  init(_ command: ShellCommand, jobs: Int, policy: FailurePolicy) {
    self.command = command
    self.jobs = jobs
    self.policy = policy
  }

  // MARK: - Handing over

  func handle(_ change: Change) throws {
    let token = change.transaction.token
    let what = [change.op.rawValue, change.code].compactMap { $0 }.joined(separator: " ")
    try run(
      "\(what) (token \(token), position \(change.position))", code: change.code,
      CommandVariables(change, heldBack: takeHeldBack()),
      before: change.position > 0
        ? HistoryCursor(token: token, changes: change.position)
        : last.map { HistoryCursor(token: $0) }
    ) { json, drain in json.change(change, drain: drain) }
    last = token
  }

  func handle(snapshot record: EventRecord, token: ChangeToken, position: Int64) throws {
    let code = record.code
    try run(
      "snapshot of \(code ?? "") (token \(token))", code: code,
      CommandVariables(
        snapshot: record, token: token, position: position, heldBack: takeHeldBack()),
      before: nil
    ) { json, drain in json.snapshot(record, token: token, position: position, drain: drain) }
  }

  func handle(
    reset reason: String, after: ChangeToken, lost: [ChangeToken], token: ChangeToken
  ) throws {
    try run(
      "reset (token \(token))", code: nil,
      CommandVariables(reset: token), before: nil
    ) { json, _ in json.reset(reason, after: after, lost: lost, token: token) }
  }

  func tell(heldBack count: Int) { heldBack = count }

  /// Each number is for one command.
  private func takeHeldBack() -> Int {
    defer { heldBack = 0 }
    return heldBack
  }

  func flush(at cursor: HistoryCursor) throws -> HistoryCursor? {
    waitUntil { $0.running.isEmpty }
    if let undone { throw undone.stop }
    last = nil
    wait.reset()
    return cursor
  }

  func end() { waitUntil { $0.running.isEmpty } }

  // MARK: - Running

  private typealias Line = (_ json: inout JSONWriter, _ drain: (inout JSONWriter) -> Void) -> Void

  /// Runs the command when its turn comes.
  private func run(
    _ subject: String, code: String?, _ variables: CommandVariables, before: HistoryCursor?,
    line: Line
  ) throws {
    count += 1
    let work = Work(
      number: count, subject: subject, code: code, variables: variables, before: before)
    waitUntil { runner in
      runner.undone != nil
        || runner.running.count < runner.jobs
          && !runner.running.contains { $0.work.concerns(work) }
    }
    if undone == nil {
      if Signals.stopRequested { note(work, failure: nil) } else { start(work, line) }
    }
    if undone != nil {
      // A command that began earlier may still fail.
      waitUntil { $0.running.isEmpty }
      if let undone { throw undone.stop }
    }
  }

  private func start(_ work: Work, _ line: Line) {
    let child: RunningChild
    do throws(ChildProcess.LaunchError) {
      child = try command.start(work.variables.values)
    } catch {
      if let failure = policy.judge(CommandFailure(work.subject, error)) {
        note(work, failure: failure)
      }
      return
    }
    running.append(Run(child: child, work: work))
    line(&json) { give(&$0, to: child) }
    json.newline()
    child.give(json.take(), isLast: true)
  }

  /// A line may be some megabytes long: its next piece is made when the command has read this one, so that
  /// memory does not depend on its length. Meanwhile the other commands get their input, but none is
  /// started.
  private func give(_ json: inout JSONWriter, to child: RunningChild) {
    child.give(json.bytes)
    json.removeWritten()
    wait.wait(for: running.map(\.child)) { !child.isTaking || child.ending != nil }
  }

  private func waitUntil(_ isOver: (CommandRunner) -> Bool) {
    while true {
      collect()
      if isOver(self) { return }
      wait.wait(for: running.map(\.child)) { running.contains { $0.child.ending != nil } }
    }
  }

  /// Judges the commands that have ended.
  private func collect() {
    let ended = running.filter { $0.child.ending != nil }
    running.removeAll { $0.child.ending != nil }
    for run in ended {
      guard let ending = run.child.ending, ending != .exited(0) else { continue }
      if wait.isInterruption(ending) {
        note(run.work, failure: nil)
      } else if let failure = policy.judge(CommandFailure(run.work.subject, ending)) {
        note(run.work, failure: failure)
      }
    }
  }

  private func note(_ work: Work, failure: CommandFailure?) {
    if let undone, undone.number < work.number { return }
    undone = (work.number, HandOverStopped(cursor: work.before, failure: failure))
  }
}

final class CommandWait {
  /// Is called when waiting has lasted for `StallTimer.patience` since the last `reset`: the program does
  /// nothing else meanwhile.
  var onStall: (() -> Void)?
  private lazy var timer = StallTimer { [unowned self] in onStall?() }

  /// Begins to measure again.
  func reset() { timer.reset() }

  /// Gives `children` their input and waits until `isOver`.
  func wait(for children: [RunningChild], until isOver: () -> Bool) {
    for child in children { child.advance() }
    if isOver() { return }
    let mustLook = children.contains { !$0.reportsEnd }
    timer.wait { limit in
      var waiting = children.flatMap(\.descriptors)
      var timeout = limit?.pollTimeout ?? -1
      if mustLook {
        let interval = RunningChild.pollInterval.pollTimeout
        timeout = timeout < 0 ? interval : min(timeout, interval)
      }
      poll(&waiting, nfds_t(waiting.count), timeout)
      for child in children { child.advance() }
      return isOver()
    }
  }

  /// Whether a command ended because this program is being stopped: the service manager and a closed
  /// terminal signal every process, and the command may get the signal first.
  func isInterruption(_ ending: ChildProcess.Ending) -> Bool {
    switch ending {
    case .signalled(SIGTERM), .signalled(SIGINT), .signalled(SIGHUP),
      .exited(128 + SIGTERM), .exited(128 + SIGINT), .exited(128 + SIGHUP):
      if !Signals.stopRequested { _ = Signals.wait(timeout: .milliseconds(200)) }
      return Signals.stopRequested
    default: return false
    }
  }
}

protocol CommandHandler: ChangeHandler, AnyObject {
  /// Waits for the commands, and tells when one blocks everything else for long.
  var wait: CommandWait { get }
  /// Waits for the running commands, or ends them.
  func end()
}

/// How to handle a command that fails.
struct FailurePolicy {
  /// Whether the watch ends; otherwise it continues with the next change.
  let stops: Bool
  let diagnostics: Diagnostics

  /// Returns the failure if the watch is to end; otherwise prints a warning.
  func judge(_ failure: CommandFailure) -> CommandFailure? {
    if stops { return failure }
    diagnostics.warning(failure.message)
    return nil
  }
}
