package import CommandLine
package import QuakeModel
package import QuakeQuery

/// The options of queries of the events, and the query made from them.
package enum EventQueryOptions {
  package static let asOf = Option.value(
    "as-of", "TOKEN|NUMBER|TIME",
    help: "the events just after this transaction, or at this time, such as yesterday or 2 h ago")

  /// The time on the axis of the feeds' snapshots.
  package static let asOfFeed = Option.value(
    "as-of-feed", "TIME",
    help: """
      the events as the snapshots generated until this time had them, regardless of when they were imported
      """)

  /// The points on both axes.
  package static let points = [asOf, asOfFeed]

  /// Options that include events which do not represent an earthquake now.
  package static let past: [Option] = [
    .flag("superseded", help: "also superseded events"),
    .flag("withdrawn", help: "also withdrawn events"),
    .flag("all", help: "the same as --superseded --withdrawn"),
  ]

  package static let sort = Option.value(
    "sort", "COLUMN[:asc|:desc],...", repeatable: true, default: "time:desc",
    completion: .found(or: EventColumn.allCases.map(\.name)),
    help: "the order; events without a value come last")

  package static let columns = Option.value(
    "columns", "COLUMN,...", repeatable: true,
    completion: .words(EventColumn.allCases.map(\.name)),
    help: "print these columns; only they are read from the database")

  /// The query that `FilterOptions.events`, `past`, `asOf` and `asOfFeed` describe.
  package static func query(_ arguments: ParsedArguments) throws -> EventQuery {
    var query = EventQuery()
    query.asOf = try arguments.bound("as-of")
    if arguments.takes("as-of-feed") {
      try arguments.requireAtMostOne(of: "as-of", "as-of-feed")
      query.asOfFeed = try arguments.time("as-of-feed")
    }
    query.filter = try FilterOptions.filter(arguments, withChanges: false)
    query.past = past(arguments)
    return query
  }

  /// The events that `past` includes.
  package static func past(_ arguments: ParsedArguments) -> EventQuery.Past {
    var past: EventQuery.Past = []
    if arguments.flag("superseded") || arguments.flag("all") { past.insert(.superseded) }
    if arguments.flag("withdrawn") || arguments.flag("all") { past.insert(.withdrawn) }
    return past
  }

  /// The columns that `columns` names, each once; nil: the option is not given.
  package static func columns(
    _ arguments: ParsedArguments
  ) throws(UsageError) -> [EventColumn]? {
    guard arguments.isGiven("columns") else { return nil }
    let names = try arguments.list("columns", of: EventColumn.allCases.map(\.name))
    var columns: [EventColumn] = []
    for column in names.compactMap({ EventColumn(name: $0) }) where !columns.contains(column) {
      columns.append(column)
    }
    return columns
  }

  /// Sets the order that `sort` names, and the page. A cursor implies the order of its list.
  ///
  /// - Parameter page: The text of the cursor; nil: the first page.
  /// - Throws: `UsageError`; `StoreError` of kind `badData` if the text is not that of a cursor.
  package static func setOrder(
    of query: inout EventQuery, _ arguments: ParsedArguments, page text: String?
  ) throws {
    if arguments.isGiven("sort") {
      query.order = try arguments.list("sort").map { text throws(UsageError) in
        guard let order = EventOrder(text) else {
          let name = String(text.prefix { $0 != ":" })
          let names = EventColumn.allCases.map(\.name)
          throw arguments.invalidValue(
            text, for: "sort",
            expected: "a column, as it is or with :asc or :desc, such as magnitude:desc",
            suggestion: Suggestion.nearest(to: name, among: names))
        }
        return order
      }
    }
    guard let text else { return }
    guard let cursor = EventCursor(text) else {
      throw StoreError(
        .badData, "malformed cursor \"\(PrintableText.line(text, atMost: 100))\"",
        hint: "Use the cursor that came with the page before, unchanged.")
    }
    query.after = cursor
    if !arguments.isGiven("sort") { query.order = cursor.order }
  }
}
