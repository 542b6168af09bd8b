/// One argument that is not an option: its name, its help and its number of values.
public struct Positional: Sendable, Equatable {
  /// How many values an argument takes.
  public enum Count: Sendable, Equatable {
    /// Exactly one.
    case one
    /// One or none.
    case optional
    /// One or more; only as the last.
    case oneOrMore
    /// Any number; only as the last.
    case any
    /// Everything after the command's name, options included, is passed on unchanged.
    ///
    /// For a command that starts another program. Only as the command's sole argument; the
    /// command's inherited options then go before its name. A leading `--help` still shows our
    /// help; a leading `--` is dropped, so that `-- --help` reaches the other program.
    case passedThrough
  }

  /// The name as shown in the usage line, in capitals.
  public let name: String
  /// The meaning of the argument, as a phrase without a full stop.
  public let help: String
  /// The number of values.
  public let count: Count
  /// The completions that a shell offers for it.
  public let completion: ValueCompletion

  /// An argument.
  public init(
    _ name: String, _ count: Count = .one, completion: ValueCompletion = .none, help: String
  ) {
    self.name = name
    self.help = help
    self.count = count
    self.completion = completion
  }

  /// The form in the usage line.
  var usage: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .oneOrMore: "\(name)..."
    case .any, .passedThrough: "[\(name)]..."
    }
  }
}
