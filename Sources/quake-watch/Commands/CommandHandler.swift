import CommandLine

/// A handler that runs commands.
protocol CommandHandler: ChangeHandler, AnyObject {
  /// Is called when a command blocks everything else for long.
  var onStall: (() -> Void)? { get set }
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
