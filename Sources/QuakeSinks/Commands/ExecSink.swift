package import Basics
internal import CommandLine
internal import Glibc
internal import QuakeConsumers
internal import QuakeModel

/// Runs a command for messages. They are delivered when it has exited with status 0.
final class ExecSink: Sink {
  private let plan: ExecPlan
  /// Commands that were cancelled, and whose end has not been seen yet.
  private var leaving: [RunningChild] = []

  init(_ plan: ExecPlan) {
    self.plan = plan
  }

  func begin(_ messages: [Message]) -> any DeliveryAttempt {
    bury()
    let subject =
      messages.count == 1
      ? "message \(messages[0].id)"
      : "\(messages.count) messages from \(messages.first?.id ?? "") on"
    do throws(ChildProcess.LaunchError) {
      let child = try plan.command.start(variables(messages))
      child.give(plan.form.lines(messages), isLast: true)
      return ExecAttempt(child, of: self, for: subject, timeout: plan.timeout)
    } catch {
      // A message that is too long for the system stays so.
      return DecidedAttempt(
        .failed(
          DeliveryFailure(CommandFailure(subject, error).message, isFinal: error.code == E2BIG)))
    }
  }

  /// The values of a message; of a batch what holds for all of it.
  private func variables(_ messages: [Message]) -> [String: String?] {
    var values: [String: String?] = [:]
    // A value that the message lacks is unset, even if this program was started with such a variable.
    for name in MessageVariable.names {
      values.updateValue(nil, forKey: MessageVariable.variable(name))
    }
    if !plan.isBatch, let message = messages.first {
      for variable in message.variables { values[variable.name] = variable.value }
      values["QUAKE_ID"] = message.id
    } else if let last = messages.last {
      values["QUAKE_TOKEN"] = last.token.description
    }
    return values
  }

  /// Commands that nobody waits for would stay as zombies while the program runs. SIGKILL ends them in no time, unless
  /// the kernel is busy with one.
  func end() {
    var waiting = leaving.flatMap(\.descriptors).filter { $0.events & Int16(POLLIN) != 0 }
    if !waiting.isEmpty { poll(&waiting, nfds_t(waiting.count), 100) }
    bury()
  }

  fileprivate func leave(_ child: RunningChild) {
    leaving.append(child)
    bury()
  }

  private func bury() {
    for child in leaving { child.advance() }
    leaving.removeAll { $0.ending != nil }
  }
}

private final class ExecAttempt: DeliveryAttempt {
  /// How long a command may take to end after SIGTERM.
  private static let grace = Duration.seconds(2)

  private enum Phase {
    case running
    /// It has run for too long, and has got SIGTERM.
    case ending
    /// It has got SIGKILL.
    case killed
  }

  private let child: RunningChild
  private let sink: ExecSink
  private let subject: String
  private let timeout: Duration
  private var limit: Deadline
  private var phase = Phase.running

  init(_ child: RunningChild, of sink: ExecSink, for subject: String, timeout: Duration) {
    self.child = child
    self.sink = sink
    self.subject = subject
    self.timeout = timeout
    limit = Deadline(after: timeout)
  }

  var descriptors: [pollfd] { phase == .ending ? [] : child.descriptors }

  var deadline: Deadline? {
    child.reportsEnd ? limit : min(limit, Deadline(after: RunningChild.pollInterval))
  }

  func advance() -> DeliveryOutcome? {
    if phase == .ending {
      // The shell may have ended before its other programs. Nobody waits for it meanwhile, so that the id of its group
      // stays its own.
      guard limit.hasPassed else { return nil }
      child.signal(SIGKILL)
      (phase, limit) = (.killed, Deadline(after: Self.grace))
    }
    child.advance()
    guard let ending = child.ending else {
      if limit.hasPassed {
        child.signal(phase == .running ? SIGTERM : SIGKILL)
        if phase == .running { phase = .ending }
        limit = Deadline(after: Self.grace)
      }
      return nil
    }
    if phase != .running {
      let limit = timeout.inSeconds
      return .failed(
        DeliveryFailure("command for \(subject) did not end within \(limit) s, and was ended"))
    }
    if ending == .exited(0) { return .delivered }
    return .failed(DeliveryFailure(CommandFailure(subject, ending).message))
  }

  func cancel() {
    child.signal(SIGKILL)
    sink.leave(child)
  }
}

/// How a command is run for messages.
package struct ExecPlan: SinkPlan {
  package let command: ShellCommand
  /// Whether the command gets many messages, a line each; otherwise it is run for each message and gets the values in
  /// its environment.
  package var isBatch: Bool
  /// How messages are written to its input.
  package var form = MessageForm.json(nil)
  /// How long it may run. Then it gets SIGTERM with all programs of its group, and two seconds later SIGKILL.
  package var timeout = ExecPlan.usualTimeout

  package static let usualTimeout = Duration.seconds(600)

  package init(_ command: ShellCommand, isBatch: Bool = false) {
    self.command = command
    self.isBatch = isBatch
  }

  /// The beginning of the command: its arguments may be secrets, and so may a variable before it.
  package var shown: String {
    let words = command.text.split(whereSeparator: \.isWhitespace)
    guard let first = words.first, !first.contains("=") else {
      return isBatch ? "exec-batch …" : "exec …"
    }
    let name = PrintableText.line(String(first), atMost: 200)
    return (isBatch ? "exec-batch " : "exec ") + name + (words.count > 1 ? " …" : "")
  }

  package func sink(in loop: CurlLoop) -> any Sink { ExecSink(self) }
}

/// A command that the user wants to be run.
package struct ShellCommand: Hashable, Sendable {
  /// As the user wrote it.
  package let text: String

  package init(text: String) {
    self.text = text
  }

  /// Starts it. The caller gives the child its input; it shares this program's outputs.
  ///
  /// - Parameter variables: What it gets in its environment; nil: the variable is unset.
  package func start(
    _ variables: [String: String?]
  ) throws(ChildProcess.LaunchError) -> RunningChild {
    var program = ChildProcess("/bin/sh", ["-c", text])
    program.environment = .inherited(variables)
    return try RunningChild(program)
  }
}

package struct CommandFailure {
  /// For which change it ran and how it ended.
  package let message: String

  /// A command that was run for `subject` ended otherwise than with status 0.
  package init(_ subject: String, _ ending: ChildProcess.Ending) {
    switch ending {
    case .exited(let status): message = "command for \(subject) exited with status \(status)"
    case .signalled(let signal): message = "command for \(subject) was ended by signal \(signal)"
    case .timedOut: message = "command for \(subject) did not end"
    }
  }

  /// The system could not run the command for `subject`.
  package init(_ subject: String, _ error: ChildProcess.LaunchError) {
    let cause =
      error.code == E2BIG
      ? "it and the environment are longer than the system allows for a program" : "\(error)"
    message = "command for \(subject) was not run: \(cause)"
  }
}
