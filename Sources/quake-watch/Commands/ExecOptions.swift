import CommandLine

/// The options for acting on changes.
struct ExecOptions {
  static let table: [Option] = [
    .value(
      "exec", "COMMAND",
      help: "run COMMAND with /bin/sh for each change, which it gets as JSON on standard input"),
    .optionalValue(
      "exec-batch", "COMMAND",
      help: "run the command for each transaction instead, with one change as JSON on a line"),
    .value(
      "exec-failure", "ACTION", default: "stop", completion: .words(actions),
      help: "what to do when a command fails: stop before its change, or skip it"),
    .value(
      "jobs", "N", default: "1",
      help: "run up to N commands at once; those for one event run one after the other"),
  ]

  private static let actions = ["stop", "skip"]

  private let command: ShellCommand
  private let isBatch: Bool
  private let jobs: Int
  private let stopsOnFailure: Bool

  /// nil if no option names a command.
  init?(_ arguments: ParsedArguments) throws {
    isBatch = arguments.isGiven("exec-batch")
    let commands = [arguments.string("exec"), arguments.string("exec-batch")].compactMap { $0 }
    guard commands.count < 2 else {
      throw arguments.usageError("a command for options --exec and --exec-batch is given twice")
    }
    jobs = try arguments.integer("jobs", in: 1...256) ?? 1
    stopsOnFailure = try arguments.choice("exec-failure", of: Self.actions) != "skip"
    guard let text = commands.first else {
      if isBatch {
        throw arguments.usageError(
          "option --exec-batch needs a command: COMMAND, or --exec COMMAND")
      }
      for name in ["exec-failure", "jobs"] where arguments.isGiven(name) {
        throw arguments.usageError("option --\(name) is for --exec or --exec-batch")
      }
      return nil
    }
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw arguments.usageError("the command for --exec is empty")
    }
    if isBatch { try arguments.requireAtMostOne(of: "exec-batch", "jobs") }
    command = ShellCommand(text: text)
  }

  /// The handler that runs the command.
  func handler(_ diagnostics: Diagnostics) -> any CommandHandler {
    let policy = FailurePolicy(stops: stopsOnFailure, diagnostics: diagnostics)
    return isBatch
      ? BatchRunner(command, policy: policy)
      : CommandRunner(command, jobs: jobs, policy: policy)
  }
}
