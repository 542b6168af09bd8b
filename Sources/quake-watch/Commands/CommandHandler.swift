import CommandLine

/// What hands changes over to commands.
protocol CommandHandler: ChangeHandler, AnyObject {
  /// Called when a command makes everything else wait for long.
  var onStall: (() -> Void)? { get set }
  /// Leaves no command running behind.
  func end()
}

/// What is done about a command that fails.
struct FailurePolicy {
  /// Whether the watch ends; otherwise it goes on with what comes next.
  let stops: Bool
  let diagnostics: Diagnostics

  /// The failure as an error if the watch is to end; otherwise it has been warned of.
  func judge(_ failure: CommandFailure) -> CommandFailure? {
    if stops { return failure }
    diagnostics.warning(failure.message)
    return nil
  }
}
