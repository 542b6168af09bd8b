import Basics
import Glibc
import QuakeModel

/// The command that the user wants to be run for changes.
struct ShellCommand {
  /// As the user wrote it.
  let text: String

  /// Starts it. The caller gives the child its input; it shares this program's outputs.
  func start(_ variables: CommandVariables) throws(ChildProcess.LaunchError) -> RunningChild {
    var program = ChildProcess("/bin/sh", ["-c", text])
    program.environment = .inherited(variables.values)
    return try RunningChild(program)
  }
}

/// Why a command failed.
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

  /// The system could not run the command for `subject`.
  init(_ subject: String, _ error: ChildProcess.LaunchError) {
    let cause =
      error.code == E2BIG
      ? "it and the environment are longer than the system allows for a program" : "\(error)"
    message = "command for \(subject) was not run: \(cause)"
  }
}
