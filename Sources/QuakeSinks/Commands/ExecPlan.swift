package import Basics
internal import CommandLine
internal import QuakeConsumers

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
