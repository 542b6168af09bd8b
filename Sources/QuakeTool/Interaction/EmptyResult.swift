public import CommandLine

/// A result without anything in it. In a pipe nothing says so: a program counts lines.
public enum EmptyResult {
  /// Says so on standard error, if standard output is a terminal.
  public static func announce(_ what: String, _ diagnostics: Diagnostics) {
    guard Terminal.isTerminal(1) else { return }
    diagnostics.note(what)
  }
}
