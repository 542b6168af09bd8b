public import CommandLine

/// Standard input, if it is a terminal: a command that reads it without a message looks as if it hung.
public enum TerminalInput {
  /// Says what the command waits for, if standard input is a terminal.
  public static func announce(_ what: String, _ diagnostics: Diagnostics) {
    guard Terminal.isTerminal(0) else { return }
    diagnostics.note("waiting for \(what) on standard input; Ctrl-D ends it")
  }
}
