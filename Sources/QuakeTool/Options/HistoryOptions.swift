public import CommandLine
public import QuakeHistory
public import QuakeModel

/// Points of the history as they are written on a command line.
extension ParsedArguments {
  /// The option's value as a token, or nil when the option is not given.
  ///
  /// - Throws: `StoreError` of kind `token` if it is not a token.
  public func token(_ name: String) throws -> ChangeToken? {
    guard let text = string(name) else { return nil }
    guard let token = ChangeToken(text) else { throw Self.malformedToken(text) }
    return token
  }

  /// The option's value as an instant, or nil when the option is not given.
  public func time(_ name: String) throws(UsageError) -> Timestamp? {
    guard let text = string(name) else { return nil }
    guard let time = TimeText.read(text) else {
      throw invalidValue(
        text, for: name, expected: TimeText.form, suggestion: TimeText.suggestion(for: text))
    }
    return time
  }

  /// A token, or the number of a transaction.
  ///
  /// - Parameter otherwise: A sentence about what else it could have been.
  /// - Throws: `StoreError` of kind `token` if it is neither.
  private static func tokenOrNumber(
    _ text: String, otherwise: String = ""
  ) throws -> HistoryBound {
    if let token = ChangeToken(text) { return .token(token) }
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    guard isNumber, let number = Int64(text) else {
      throw malformedToken(text, otherwise: otherwise)
    }
    return .number(number)
  }

  /// A token, the number of a transaction, an instant, or "oldest".
  ///
  /// - Throws: `UsageError` if it looks like an instant but is not valid; `StoreError` of kind `token` if it
  ///   is none of the three.
  public func place(_ text: String) throws -> HistoryBound {
    if text == "oldest" { return .oldest }
    if let token = ChangeToken(text) { return .token(token) }
    if let time = TimeText.read(text) { return .time(time) }
    // A token has neither a dash nor a colon; a date has a dash.
    if TimeText.looksLikeTime(text) {
      throw usageError(
        "invalid time '\(text)': expected \(TimeText.form)",
        suggestion: TimeText.suggestion(for: text))
    }
    return try Self.tokenOrNumber(text, otherwise: " A time is \(TimeText.form).")
  }

  static func malformedToken(_ text: String, otherwise: String = "") -> StoreError {
    StoreError(
      .token(.malformed), "malformed token \"\(text)\"",
      hint: """
        A token is a number, a dot and 8 hexadecimal digits, such as 1042.9f3ac2d1; 0 stands \
        for the beginning.\(otherwise)
        """)
  }
}
