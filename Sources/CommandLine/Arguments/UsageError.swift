/// A command line that cannot be obeyed.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong: names the option or argument, and what is accepted.
  public let message: String
  /// What may have been meant, ready to be typed.
  public let suggestion: String?
  /// The command whose help explains it, such as `quake-ingest run`.
  public let command: String

  /// An error in the use of `command`.
  public init(_ message: String, suggestion: String? = nil, command: String) {
    self.message = message
    self.suggestion = suggestion
    self.command = command
  }

  /// The hints to print below the message.
  public var hints: [String] {
    var hints: [String] = []
    if let suggestion { hints.append("did you mean '\(suggestion)'?") }
    hints.append("see '\(command) --help'")
    return hints
  }

  /// The message and its hints in one line.
  public var description: String { ([message] + hints).joined(separator: "; ") }
}
