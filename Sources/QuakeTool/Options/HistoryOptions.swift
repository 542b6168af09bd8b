package import CommandLine
package import QuakeHistory
package import QuakeModel

/// Points of the history as they are written on a command line.
extension ParsedArguments {
  /// The option's value as a token, or nil when the option is not given.
  ///
  /// - Throws: `StoreError` of kind `token` if it is not a token.
  package func token(_ name: String) throws -> ChangeToken? {
    guard let text = string(name) else { return nil }
    guard let token = ChangeToken(text) else { throw Self.malformedToken(text) }
    return token
  }

  /// The option's value as an instant, or nil when the option is not given.
  package func time(_ name: String) throws(UsageError) -> Timestamp? {
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

  /// The option's value as a point of the history, or nil when the option is not given; see `place`.
  package func bound(_ name: String) throws -> HistoryBound? {
    try string(name).map { try place($0, for: name) }
  }

  /// A token, the number of a transaction, an instant, or "oldest".
  ///
  /// - Parameter name: The option whose value it is.
  /// - Throws: `UsageError` if it looks like an instant but is not valid; `StoreError` of kind `token` if it
  ///   is none of the three.
  package func place(_ text: String, for name: String? = nil) throws -> HistoryBound {
    if text == "oldest" { return .oldest }
    if let token = ChangeToken(text) { return .token(token) }
    if let time = TimeText.read(text) { return .time(time) }
    // A token has neither a dash nor a colon; a date has a dash.
    if TimeText.looksLikeTime(text) {
      let suggestion = TimeText.suggestion(for: text)
      if let name {
        throw invalidValue(text, for: name, expected: TimeText.form, suggestion: suggestion)
      }
      throw usageError(
        "invalid time '\(text)': expected \(TimeText.form)",
        suggestion: suggestion)
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

/// The options that select changes of the history, and the query made from them.
package enum HistoryQueryOptions {
  /// The range of the history, the conditions, and the order.
  package static let selection: [Option] =
    [
      .value(
        "after", "TOKEN|NUMBER|TIME",
        help: "start after this transaction, or after the last one that was committed by this time"),
      .value("since", "TIME", help: "the same as --after TIME, such as yesterday or 2 h ago"),
      .flag("from-oldest", help: "start with the oldest change that is still held"),
      .value(
        "up-to", "TOKEN|NUMBER|TIME",
        help: "end with this transaction, or with the last one that was committed by this time"),
      .value("until", "TIME", help: "the same as --up-to TIME"),
      .value("transaction", "TOKEN", help: "only this transaction"),
    ] + FilterOptions.events + FilterOptions.changes + [
      .flag("descending", help: "newest change first, also within a transaction")
    ]

  /// The query that the options of `selection` describe, without a limit.
  package static func query(_ arguments: ParsedArguments) throws -> HistoryQuery {
    try arguments.requireAtMostOne(of: "after", "since", "from-oldest", "transaction")
    try arguments.requireAtMostOne(of: "up-to", "until", "transaction")
    var query = HistoryQuery()
    query.after =
      try arguments.bound("after")
      ?? arguments.time("since").map { .time($0) }
    if arguments.flag("from-oldest") { query.after = .oldest }
    query.upTo =
      try arguments.bound("up-to")
      ?? arguments.time("until").map { .time($0) }
    query.transaction = try arguments.token("transaction")
    query.filter = try FilterOptions.filter(arguments)
    if arguments.flag("descending") { query.order = .descending }
    return query
  }
}
