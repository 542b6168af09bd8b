/// A value that may have a duration after its last `@`, such as `all_day@5m`.
public struct TimedValue: Sendable, Equatable {
  /// The part before the duration.
  public let value: String
  /// The duration, or nil if there is none.
  public let duration: Duration?

  /// Splits `text`. If the part after the last `@` is not a duration, as in
  /// `https://user:password@example.org/feed`, it belongs to the value.
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
