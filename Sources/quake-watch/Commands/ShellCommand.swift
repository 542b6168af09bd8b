import ChildProcesses
import Glibc
import QuakeModel

/// A command that a person gave, to be run for changes.
struct ShellCommand {
  /// As it was given.
  let text: String

  /// Starts it. Its input is to be given to the child, its outputs are this program's.
  func start(_ variables: CommandVariables) throws(ChildProcess.LaunchError) -> RunningChild {
    var program = ChildProcess("/bin/sh", ["-c", text])
    program.environment = .inherited(variables.values)
    return try RunningChild(program)
  }
}

/// Why a command did not do its work.
struct CommandFailure {
  /// For which change it ran and how it ended.
  let message: String

  /// A command that was run for `subject` ended otherwise than with status 0.
  init(_ subject: String, _ ending: ChildProcess.Ending) {
    switch ending {
    case .exited(let status): message = "command for \(subject) exited with status \(status)"
    case .signalled(let signal): message = "command for \(subject) was ended by signal \(signal)"
    case .timedOut: message = "command for \(subject) did not end"
    }
  }

  /// A command was to be run for `subject`, but the system would not.
  init(_ subject: String, _ error: ChildProcess.LaunchError) {
    let cause =
      error.code == E2BIG
      ? "it and the environment are longer than the system allows for a program" : "\(error)"
    message = "command for \(subject) was not run: \(cause)"
  }
}
