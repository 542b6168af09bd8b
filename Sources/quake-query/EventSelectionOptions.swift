import CommandLine
import Postgres
import QuakeModel
import QuakeQuery
import QuakeTool

/// Codes of events on standard input, as a part of a query.
enum EventSelectionOptions {
  /// Calls `body` with the query. If `--code` names standard input (`-`), the codes there are sent to the
  /// server first, together with the other codes of the option.
  static func withCodes<Value>(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics, _ query: EventQuery,
    over connection: Connection, _ body: (EventQuery) throws -> Value
  ) throws -> Value {
    guard query.filter.codes?.contains("-") == true else { return try body(query) }
    return try connection.transaction(readOnly: true) {
      try body(try sendingCodes(of: query, diagnostics, over: connection))
    }
  }

  /// The query with the codes on standard input, if `--code` names it; they are sent to the server, in the
  /// open transaction.
  static func sendingCodes(
    of query: EventQuery, _ diagnostics: Diagnostics, over connection: Connection
  ) throws -> EventQuery {
    guard let named = query.filter.codes, named.contains("-") else { return query }
    var query = query
    query.filter.codes = nil
    var rest = named.subtracting(["-"]).makeIterator()
    TerminalInput.announce("codes, one a line,", diagnostics)
    var reader = CodeReader()
    query.codes = try SessionCodes.send(over: connection) { try rest.next() ?? reader.next() }
    return query
  }

  /// Says on a terminal that no event was found.
  static func announceNone(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) {
    let hasConditions = (FilterOptions.events.map(\.name) + ["as-of", "page"]).contains {
      arguments.takes($0) && arguments.isGiven($0)
    }
    EmptyResult.announce(
      hasConditions
        ? "no event meets the conditions"
        : "there are no events; \"quake-ingest run\" fetches those of the past month",
      diagnostics)
  }
}
