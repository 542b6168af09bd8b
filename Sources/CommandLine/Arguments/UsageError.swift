/// An error in a command line, in a configuration file or in the parameters of a URL.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The message, with the name of the option or argument and the accepted values.
  public let message: String
  /// The option or command that the user may have meant, ready to be typed.
  public let suggestion: String?
  /// The command whose help explains the usage, such as `quake-ingest run`.
  public let command: String
  /// Whether each value is valid by itself, and only their combination is not.
  public var isContradiction = false

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

extension UsageError {
  /// Whether two errors read the same.
  public static func == (left: UsageError, right: UsageError) -> Bool {
    (left.message, left.suggestion, left.command) == (
      right.message, right.suggestion, right.command
    )
  }
}
