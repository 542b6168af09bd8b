/// A value that may carry a length of time after its last `@`, such as `all_day@5m`.
public struct TimedValue: Sendable, Equatable {
  /// What stands before it.
  public let value: String
  /// The length of time; nil: none is given.
  public let duration: Duration?

  /// Takes `text` apart. What stands after the last `@` is part of the value unless it is a length of
  /// time, as in `https://user:password@example.org/feed`.
  public init(_ text: String) {
    if let at = text.lastIndex(of: "@"), at != text.startIndex,
      let duration = Duration(text: String(text[text.index(after: at)...]))
    {
      value = String(text[..<at])
      self.duration = duration
    } else {
      value = text
      duration = nil
    }
  }
}
