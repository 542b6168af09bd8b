package import Basics
internal import Glibc

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

/// Why a command failed.
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
