public import CommandLine
public import QuakeHistory

/// The options that select changes of the history, and the query made from them.
public enum HistoryQueryOptions {
  /// The range of the history, the conditions, and the order.
  public static let selection: [Option] =
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
  public static func query(_ arguments: ParsedArguments) throws -> HistoryQuery {
    try arguments.requireAtMostOne(of: "after", "since", "from-oldest", "transaction")
    try arguments.requireAtMostOne(of: "up-to", "until", "transaction")
    var query = HistoryQuery()
    query.after =
      try arguments.string("after").map { try arguments.place($0) }
      ?? arguments.time("since").map { .time($0) }
    if arguments.flag("from-oldest") { query.after = .oldest }
    query.upTo =
      try arguments.string("up-to").map { try arguments.place($0) }
      ?? arguments.time("until").map { .time($0) }
    query.transaction = try arguments.token("transaction")
    query.filter = try FilterOptions.filter(arguments)
    if arguments.flag("descending") { query.order = .descending }
    return query
  }
}
