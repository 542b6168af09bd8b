package import CommandLine

/// The consent of a person to something that cannot be undone: a question on a terminal, elsewhere `--yes`.
package struct Consent {
  /// `--yes`. Not in a configuration file, where it would be forgotten.
  package static let option = Option.flag("yes", help: "do not ask").onCommandLineOnly()

  package let asks: Bool
  private let diagnostics: Diagnostics

  /// Reads `--yes`, and `--dry-run`, which changes nothing and needs no consent.
  ///
  /// - Parameter isNeededElsewhere: Whether `--yes` is needed where there is no terminal to ask on. False for a
  ///   command that removes one named object, because programs ran it before it asked for consent.
  /// - Throws: `UsageError` if the person has to be asked and there is no terminal to ask on.
  package init(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics, isNeededElsewhere: Bool = true
  ) throws(UsageError) {
    self.diagnostics = diagnostics
    let isDryRun = arguments.takes("dry-run") && arguments.flag("dry-run")
    if arguments.takes("dry-run") { try arguments.requireAtMostOne(of: "yes", "dry-run") }
    asks =
      !arguments.flag("yes") && !isDryRun && (isNeededElsewhere || Confirmation.isPossible)
    guard !asks || Confirmation.isPossible else {
      throw arguments.usageError("--yes is needed because there is no terminal to ask on")
    }
  }

  /// Asks, if that is necessary. If the answer is no, it says that nothing was changed.
  package func isGiven(_ question: @autoclosure () -> String) -> Bool {
    guard asks else { return true }
    guard Confirmation.ask(question()) else {
      diagnostics.note("nothing was changed")
      return false
    }
    return true
  }
}

/// Standard input, if it is a terminal: a command that reads it without a message looks as if it hung.
package enum TerminalInput {
  /// Says what the command waits for, if standard input is a terminal.
  package static func announce(_ what: String, _ diagnostics: Diagnostics) {
    guard Terminal.isTerminal(0) else { return }
    diagnostics.note("waiting for \(what) on standard input; Ctrl-D ends it")
  }
}
